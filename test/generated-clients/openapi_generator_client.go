// Verifies a license with the client of openapi-generator's Go: ADDRESS KEY.
package main

import (
	"context"
	"fmt"
	"os"

	client "generated/client"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	keys := map[string]client.APIKey{"key": {Key: os.Args[2]}}
	ctx := context.WithValue(context.Background(), client.ContextAPIKeys, keys)
	request := client.NewVerifyRequest("Nursing Board")
	request.SetLicenseNumber("RN.987654321")
	answer, _, err := client.NewAPIClient(configuration).LookupsAPI.Verify(ctx).VerifyRequest(*request).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.LicenseRecord.FullName)
}

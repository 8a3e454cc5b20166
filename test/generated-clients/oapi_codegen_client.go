// Verifies a license with the client of oapi-codegen: ADDRESS KEY.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"generated/client"
)

func main() {
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Args[2])
		return nil
	}
	api, err := client.NewClientWithResponses(os.Args[1], client.WithRequestEditorFn(withKey))
	if err != nil {
		panic(err)
	}
	number := "RN.987654321"
	request := client.VerifyRequest{Board: "Nursing Board", LicenseNumber: &number}
	answer, err := api.VerifyWithResponse(context.Background(), request)
	if err != nil {
		panic(err)
	}
	record, err := answer.JSON200.AsLicenseRecord()
	if err != nil {
		panic(err)
	}
	fmt.Println(record.FullName)
}

import org.openapitools.client.ApiClient;
import org.openapitools.client.api.LookupsApi;
import org.openapitools.client.model.BoardName;
import org.openapitools.client.model.VerifyRequest;

/** Verifies a license with the client of openapi-generator's Java: ADDRESS KEY. */
public class Verify {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(args[0]);
    client.setApiKey(args[1]);
    VerifyRequest request = new VerifyRequest().board(BoardName.NURSING_BOARD).licenseNumber("RN.987654321");
    System.out.println(new LookupsApi(client).verify(request).getLicenseRecord().getFullName());
  }
}

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.util.Base64;

/**
 * Writes the signature of a provider token in another form. RFC 7518 wants the two numbers of an ES256 signature one after the other, 32 bytes each; pushy
 * writes and reads them as Java's signatures are, in DER. Apple takes both. The numbers, and what is signed, stay as they are.
 */
final class Signatures {
    private static final int NUMBER_BYTES = 32;

    private Signatures() {}

    /** The authorization with its signature in DER; what is not in the form of RFC 7518 is returned as it is. */
    static String inDER(String authorization) {
        int dot = authorization.lastIndexOf('.');
        byte[] signature;
        try {
            signature = Base64.getUrlDecoder().decode(authorization.substring(dot + 1));
        } catch (IllegalArgumentException e) {
            return authorization;
        }
        if (signature.length != 2 * NUMBER_BYTES) {
            return authorization;
        }
        ByteArrayOutputStream numbers = new ByteArrayOutputStream();
        for (int at : new int[] {0, NUMBER_BYTES}) {
            byte[] magnitude = new byte[NUMBER_BYTES];
            System.arraycopy(signature, at, magnitude, 0, NUMBER_BYTES);
            byte[] number = new BigInteger(1, magnitude).toByteArray();
            numbers.write(0x02);
            numbers.write(number.length);
            numbers.writeBytes(number);
        }
        ByteArrayOutputStream sequence = new ByteArrayOutputStream();
        sequence.write(0x30);
        sequence.write(numbers.size());
        sequence.writeBytes(numbers.toByteArray());
        return authorization.substring(0, dot + 1) + Base64.getUrlEncoder().withoutPadding().encodeToString(sequence.toByteArray());
    }
}

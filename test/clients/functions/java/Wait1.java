/** Rests in its handler. */
public class Wait1 {
    private static final long ORIGIN = System.currentTimeMillis();

    public String myHandler() {
        Rest.rest(ORIGIN, 10_000);
        return "SUCCESS";
    }
}

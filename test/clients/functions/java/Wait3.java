/** Rests in its constructor. */
public class Wait3 {
    private static final long ORIGIN = System.currentTimeMillis();

    public Wait3() {
        Rest.rest(ORIGIN, 2_000);
    }

    public String myHandler() {
        System.out.println("Called: " + (System.currentTimeMillis() - ORIGIN));
        return "SUCCESS";
    }
}

/** Rests in its constructor. */
public class Wait2 {
    private static final long ORIGIN = System.currentTimeMillis();

    public Wait2() {
        Rest.rest(ORIGIN, 10_000);
    }

    public String myHandler() {
        System.out.println("Called: " + (System.currentTimeMillis() - ORIGIN));
        return "SUCCESS";
    }
}

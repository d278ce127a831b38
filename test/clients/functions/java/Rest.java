/** What those that wait share. WAIT_MS says for how long. */
final class Rest {
    private Rest() {}

    static void rest(long origin, long otherwise) {
        String wanted = System.getenv("WAIT_MS");
        try {
            System.out.println("Before wait: " + (System.currentTimeMillis() - origin));
            Thread.sleep(wanted == null ? otherwise : Long.parseLong(wanted));
            System.out.println("After wait: " + (System.currentTimeMillis() - origin));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

/** Calculates a Fibonacci number, once to warm up and once by the clock. N says which, WARM=no that once is enough. */
public class Fib {
    public long myHandler() {
        int n = Integer.parseInt(System.getenv("N"));
        if (!"no".equals(System.getenv("WARM"))) {
            fib(n);
        }
        long began = System.nanoTime();
        long result = fib(n);
        System.out.println("Took: " + (System.nanoTime() - began) / 1_000_000);
        return result;
    }

    private static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }
}

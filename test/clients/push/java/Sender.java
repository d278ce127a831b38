import java.util.List;

/** Sends what was dequeued; the three versions of the field report. It is for the life of the program, and what it keeps, threads and perhaps a client, too. */
interface Sender {
    /** Sends a message's pushes, and notes an end for each user sooner or later. */
    void send(List<Work.User> users, Answers answers);

    static Sender of(String version, Far far, int workers) throws Exception {
        return switch (version) {
            case "first" -> new FirstSender(far, workers);
            case "fix-1" -> new ListeningSender(far, workers);
            case "fix-2" -> new SingletonSender(far, workers);
            default -> throw new IllegalArgumentException("no version " + version + ": first, fix-1 or fix-2");
        };
    }
}

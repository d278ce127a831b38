import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** What a program was started with: pairs of --name value. */
final class Flags {
    private final Map<String, String> given = new HashMap<>();

    Flags(String[] args) {
        for (int i = 0; i < args.length; i += 2) {
            if (!args[i].startsWith("--") || i + 1 == args.length) {
                throw new IllegalArgumentException("wanted --name value, got " + args[i]);
            }
            given.put(args[i].substring(2), args[i + 1]);
        }
    }

    boolean has(String name) {
        return given.containsKey(name);
    }

    String text(String name) {
        String value = given.get(name);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    String text(String name, String otherwise) {
        return given.getOrDefault(name, otherwise);
    }

    int number(String name, int otherwise) {
        String value = given.get(name);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    File file(String name) {
        return new File(text(name));
    }
}

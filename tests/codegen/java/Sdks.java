import java.io.File;
import java.io.PrintWriter;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/**
 * Compiles SDKs, all in one process, and writes down what they offer.
 *
 *     java Sdks.java CLASSPATH compile SOURCES OTHERS CLASSES ... surface CLASSES FILE PACKAGE ...
 */
public class Sdks {
    public static void main(String[] words) throws Exception {
        var path = words[0];
        for (int at = 1; at < words.length; at += 4) {
            if (words[at].equals("compile")) {
                compile(path, Path.of(words[at + 1]), Path.of(words[at + 2]), Path.of(words[at + 3]));
            } else {
                surface(path, Path.of(words[at + 1]), Path.of(words[at + 2]), words[at + 3]);
            }
        }
    }

    private static List<File> files(Path folder, String ending) throws Exception {
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(it -> it.toString().endsWith(ending)).map(Path::toFile).sorted().collect(Collectors.toList());
        }
    }

    /** Errors go to standard output, one a line, after the folder. */
    private static void compile(String path, Path sources, Path others, Path classes) throws Exception {
        Files.createDirectories(classes);
        var compiler = ToolProvider.getSystemJavaCompiler();
        var said = new DiagnosticCollector<JavaFileObject>();
        try (var manager = compiler.getStandardFileManager(said, null, null)) {
            var options = List.of("-classpath", path, "-d", classes.toString(), "--release", "11", "-proc:none", "-Xmaxerrs", "1000");
            var files = new ArrayList<>(files(sources.resolve("src/main/java"), ".java"));
            if (Files.exists(others)) {
                files.addAll(files(others, ".java"));
            }
            compiler.getTask(null, manager, said, options, null, manager.getJavaFileObjectsFromFiles(files)).call();
        }
        for (var it : said.getDiagnostics()) {
            if (it.getKind() == Diagnostic.Kind.ERROR) {
                var place = it.getSource() == null ? "" : it.getSource().getName().replaceAll(".*/src/main/java/", "") + ":" + it.getLineNumber();
                System.out.println(sources + "\t" + place + ": " + it.getMessage(null).replaceAll("\\s+", " "));
            }
        }
    }

    /** One line per fact: classes with what they extend and are marked with, constructors, methods, fields. */
    private static void surface(String path, Path classes, Path file, String root) throws Exception {
        var urls = new ArrayList<URL>();
        urls.add(classes.toUri().toURL());
        for (var entry : path.split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        var facts = new TreeSet<String>();
        try (var loader = new URLClassLoader(urls.toArray(URL[]::new))) {
            for (var found : files(classes.resolve(root.replace('.', '/')), ".class")) {
                var name = classes.relativize(found.toPath()).toString().replaceAll("\\.class$", "").replace('/', '.');
                var type = Class.forName(name, false, loader);
                if (Modifier.isPublic(type.getModifiers())) {
                    describe(type, facts);
                }
            }
        }
        Files.write(file, facts);
    }

    private static void describe(Class<?> type, TreeSet<String> facts) {
        var name = type.getName();
        facts.add(name + ": " + type.toGenericString() + " extends " + type.getGenericSuperclass());
        for (var it : type.getAnnotations()) {
            facts.add(name + ": @" + it);
        }
        for (var it : type.getDeclaredConstructors()) {
            if (Modifier.isPublic(it.getModifiers())) {
                facts.add(name + ": " + it.toGenericString());
            }
        }
        for (var it : type.getDeclaredMethods()) {
            if (Modifier.isPublic(it.getModifiers()) && !it.isSynthetic()) {
                var old = it.isAnnotationPresent(Deprecated.class) ? "@Deprecated " : "";
                facts.add(name + ": " + old + it.toGenericString());
            }
        }
        // What is sent and read goes by the marks of private fields.
        for (var it : type.getDeclaredFields()) {
            if (Modifier.isPublic(it.getModifiers())) {
                facts.add(name + ": " + it.toGenericString());
            }
            for (var mark : it.getAnnotations()) {
                if (!(mark instanceof Deprecated)) {
                    facts.add(name + ": " + it.getGenericType() + " " + mark);
                }
            }
        }
    }
}

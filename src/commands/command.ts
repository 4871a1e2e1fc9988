/** The environment of the process. */
export type Environment = Record<string, string | undefined>

/** A command of the program: `sheaf <name> [options]`. */
export interface Command {
  /** One line of `sheaf --help`. */
  summary: string
  /** The text of `sheaf <name> --help`, without a final newline. */
  help: string
  /**
   * @param args after the name of the command
   * @param print writes a line to standard output
   * @returns the exit code: 0 if all is well
   * @throws Error whose message is shown to the user; the exit code is then 1
   */
  run(args: readonly string[], env: Environment, print: (line: string) => void): Promise<number>
}

/** An option or command that does not exist. The exit code is 2. */
export class UsageError extends Error {}

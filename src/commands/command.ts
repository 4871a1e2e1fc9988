import type { Config } from '../config.ts'

/** The environment of the process. */
export type Environment = Record<string, string | undefined>

/** What a command needs of the whole product, which commands do not know. */
export interface Program {
  /**
   * Restores one base with its records of an earlier time as a new one, which belongs to the first super admin. Runs the
   * server in this process meanwhile.
   *
   * @param at ISO 8601
   * @throws Error that says what is wrong
   */
  restoreBaseAt(
    config: Config,
    input: { baseId: string; at: string; title: string | null },
  ): Promise<BaseRestoredAt>
}

/** A base that was restored to an earlier time. */
export interface BaseRestoredAt {
  id: string
  title: string
  /** Attached files whose content is neither on the server nor in the backup. */
  filesMissing: number
  /** The names of tables and fields that are not of that time. */
  notRewound: { tables: string[]; fields: string[] }
}

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
  run(
    args: readonly string[],
    env: Environment,
    print: (line: string) => void,
    program: Program,
  ): Promise<number>
}

/** An option or command that does not exist. The exit code is 2. */
export class UsageError extends Error {}

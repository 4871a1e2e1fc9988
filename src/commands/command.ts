import type { Config } from '../config.ts'

/** The environment of the process. */
export type Environment = Record<string, string | undefined>

/** Where a command is with its work, and what ends it. */
interface Following {
  signal: AbortSignal
  /** Called with the number of records so far. */
  progress(rows: number): void
}

/** What a file of a base has besides tables, views and records. */
export interface BaseFileOptions {
  withAttachments: boolean
  withComments: boolean
  withHistory: boolean
}

/** A base that was opened from a file. */
interface OpenedBase {
  id: string
  title: string
  tables: number
  rows: number
  unknownPeople: string[]
  leftOut: { table: string; field: string; count: number; example: string }[]
}

/** Bases as files, for the operator of an installation: access is not checked. */
export interface BaseFiles {
  /**
   * Writes a base into a file.
   *
   * @param base id or title
   * @param path where no file is
   * @throws Error for a base that does not exist, or a title that several have
   */
  write(
    base: string,
    path: string,
    options: BaseFileOptions,
    following: Following,
  ): Promise<{ title: string }>
  /** Opens a file as a base of the account with an e-mail address. @throws Error for an account that does not exist */
  open(
    path: string,
    options: { owner: string; withHistory: boolean },
    following: Following,
  ): Promise<OpenedBase>
  close(): Promise<void>
}

/** A base that was restored to an earlier time. */
export interface BaseRestoredAt {
  id: string
  title: string
  /** Attached files whose content is neither on the server nor in the backup. */
  filesMissing: number
  /** What is not as it was at that time. */
  notRewound: LeftAsItIs[]
}

/** A part of a base that was not restored to an earlier time. */
export interface LeftAsItIs {
  kind: 'table' | 'field' | 'view' | 'records' | 'webhook' | 'comments'
  /** `Table`, or `Table.Field`; of records and comments, that of their table. */
  title: string
  /** Deleted forever since, changed since, or in a connected database. */
  reason: 'purged' | 'changed' | 'connected'
  /** Of records and comments. */
  count?: number
}

/** What commands need of the modules, which they do not know. */
export interface Program {
  /** Opens the data like a server that does not listen. @throws Error if a server uses them alone */
  openBaseFiles(config: Config): Promise<BaseFiles>
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

/** A number and its noun: `1 base`, `2 bases`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

import { VERSION } from '../version.ts'
import { type Command, type Environment, type Program, UsageError } from './command.ts'

/** The commands by name. Each is loaded when it is used, so that `--version` loads nothing. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  backup: async () => (await import('./backup.ts')).backup,
  check: async () => (await import('./check.ts')).check,
  health: async () => (await import('./health.ts')).health,
  move: async () => (await import('./move.ts')).moveCommand,
  restore: async () => (await import('./restore.ts')).restore,
  rollback: async () => (await import('./rollback.ts')).rollback,
  upgrade: async () => (await import('./upgrade.ts')).upgradeCommand,
}

/** Exit codes: 0 is success, 1 a failure, 2 a command line that does not exist. */
const FAILURE = 1
const WRONG_USAGE = 2

/**
 * Runs the command of a command line.
 *
 * @param args of the process, without the program
 * @returns the exit code; null if there is no command: the server is to start
 */
export async function runCommand(
  args: readonly string[],
  env: Environment,
  output: { print: (line: string) => void; printError: (line: string) => void },
  program: Program,
): Promise<number | null> {
  const [name, ...rest] = args
  if (name === undefined) return null
  try {
    if (name === '--help' || name === '-h' || name === 'help') {
      output.print(await generalHelp())
      return 0
    }
    if (name === '--version' || name === '-v') {
      output.print(VERSION)
      return 0
    }
    const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (!load) throw new UsageError(`There is no ${name.startsWith('-') ? 'option' : 'command'} ${name}`)
    const command = await load()
    if (rest.includes('--help') || rest.includes('-h')) {
      output.print(command.help)
      return 0
    }
    return await command.run(rest, env, output.print, program)
  } catch (error) {
    output.printError(error instanceof Error ? error.message : String(error))
    if (!(error instanceof UsageError)) return FAILURE
    output.printError('“sheaf --help” lists what there is')
    return WRONG_USAGE
  }
}

async function generalHelp(): Promise<string> {
  const commands = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => `  ${name.padEnd(12)}${(await load()).summary}`),
  )
  return `Sheaf ${VERSION}: a self-hosted no-code database

Usage: sheaf [command]

Without a command, sheaf starts the server. It is configured by environment
variables, of which PORT, HOST, DATA_DIR and DATABASE_URL are the first to know;
the README has all of them.

Commands:
${commands.join('\n')}

Options:
  -h, --help    this text; after a command, what the command does
  -v, --version the version

“sheaf <command> --help” says more about a command.`
}

import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import type { Installation } from '../db/move/installation.ts'
import { cancelMove, move, removeSource } from '../db/move/move.ts'
import { openPostgresInstallation } from '../db/move/postgres-installation.ts'
import { openSqliteInstallation } from '../db/move/sqlite-installation.ts'
import { requireDataDir } from '../start-failure.ts'
import { type Command, type Environment, UsageError } from './command.ts'

const HELP = `Usage: sheaf move --to postgres | --to sqlite [--cancel | --remove-source]

Moves all data of an installation between the SQLite files in DATA_DIR and the
PostgreSQL of DATABASE_URL: accounts, bases, records, their history and trash.
Attachments, uploads and secrets stay in DATA_DIR.

Stop all servers first. Both variables must be set. The target must be empty.
Every cell is compared before the target can be used. A move that is interrupted
goes on where it stopped when the same command is run again; until then neither
side starts. The source keeps its data, but no longer starts after the move.

  --to postgres     from the files to the database
  --to sqlite       from the database to the files
  --cancel          ends an unfinished move: empties the target, the source starts again
  --remove-source   after a move: permanently deletes the data of the source`

/** `sheaf move`: between files and PostgreSQL. */
export const moveCommand: Command = {
  summary: 'moves all data between SQLite files and PostgreSQL',
  help: HELP,
  async run(args, env, print) {
    await runMove(readOptions(args), env, print)
    return 0
  },
}

interface Options {
  to: 'postgres' | 'sqlite'
  cancel: boolean
  removeSource: boolean
}

/** @throws UsageError */
function readOptions(args: readonly string[]): Options {
  const { to, cancel, 'remove-source': removeSource } = parse(args)
  if (to !== 'postgres' && to !== 'sqlite')
    throw new UsageError('“sheaf move” needs --to postgres or --to sqlite')
  if (cancel && removeSource) throw new UsageError('--cancel and --remove-source exclude each other')
  return { to, cancel, removeSource }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        to: { type: 'string' },
        cancel: { type: 'boolean', default: false },
        'remove-source': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @throws Error that says why the data cannot be moved */
async function runMove(
  { to: target, cancel, removeSource: isRemoval }: Options,
  env: Environment,
  print: (line: string) => void,
): Promise<void> {
  const config = readConfig(env)
  if (config.databaseUrl === null) throw new Error('DATABASE_URL must name the PostgreSQL to move to or from')
  requireDataDir(config)
  const files = openSqliteInstallation(config.dataDir)
  try {
    const database = await openPostgresInstallation(config.databaseUrl)
    try {
      const [from, to] = target === 'postgres' ? [files, database] : [database, files]
      if (cancel) await cancelMove(from, to)
      else if (isRemoval) await removeSource(from, to)
      else await report(from, to, target, print)
      if (cancel) print(`Cancelled. Start the server ${from.start} again.`)
      if (isRemoval) print(`Removed the data from ${from.label}.`)
    } finally {
      await database.close()
    }
  } finally {
    await files.close()
  }
}

async function report(
  from: Installation,
  to: Installation,
  target: string,
  print: (line: string) => void,
): Promise<void> {
  print(`Moving ${from.label} to ${to.label}`)
  const moved = await move(from, to, print)
  if (moved) {
    print(`Moved ${moved.bases} bases: ${moved.tables} tables with ${moved.rows} rows, every cell compared`)
    print(`Checksum: ${moved.checksum}`)
  } else print('Everything had been moved already.')
  print(
    `Start the server ${to.start} now. The data of ${from.label} was not changed; delete it with ` +
      `“sheaf move --to ${target} --remove-source” when you no longer want it.`,
  )
}

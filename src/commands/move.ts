import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { HOMES, isHomeClient, moveCommandOf } from '../db/move/installation.ts'
import { cancelMove, move, removeSource } from '../db/move/move.ts'
import { cancelBaseMove, moveBases, type Places, removeFormerHomes } from '../db/move/move-bases.ts'
import { openPostgresInstallation } from '../db/move/postgres-installation.ts'
import { openSqliteInstallation } from '../db/move/sqlite-installation.ts'
import type { HomeClient } from '../db/sources.ts'
import { requireDataDir } from '../start-failure.ts'
import { type Command, counted, type Environment, UsageError } from './command.ts'

const HELP = `Usage: sheaf move --to postgres | --to sqlite [--base ID]... [--cancel | --remove-source]

Moves the data of an installation between the SQLite files in DATA_DIR and the
PostgreSQL of DATABASE_URL: accounts, bases, records, their history and trash.
Attachments, uploads and secrets stay in DATA_DIR.

Stop all servers first. Both variables must be set. The target must be empty.
Every cell is compared before the target can be used. A move that is interrupted
goes on where it stopped when the same command is run again; until then neither
side starts. The source keeps its data, but no longer starts after the move.

With --base, only these bases move, and the installation stays what it is. This
needs an installation in PostgreSQL: a base of it is a schema there, or a file
in DATA_DIR/bases. The id of a base is in the address of its pages (p…).

  --to postgres     from the files to the database
  --to sqlite       from the database to the files
  --base ID         only this base; repeat it for more
  --cancel          ends an unfinished move: removes what was copied; the source is
                    used again
  --remove-source   after a move: permanently deletes the data in the former place`

/** `sheaf move`: between files and PostgreSQL. */
export const moveCommand: Command = {
  summary: 'moves all data, or chosen bases, between SQLite files and PostgreSQL',
  help: HELP,
  async run(args, env, print) {
    await runMove(readOptions(args), env, print)
    return 0
  },
}

interface Options {
  to: HomeClient
  /** Empty: everything. */
  baseIds: string[]
  cancel: boolean
  removeSource: boolean
}

/** @throws UsageError */
function readOptions(args: readonly string[]): Options {
  const { to: option, base, cancel, 'remove-source': removeSource } = parse(args)
  const to = Object.keys(HOMES)
    .filter(isHomeClient)
    .find((client) => HOMES[client].option === option)
  if (!to) throw new UsageError('“sheaf move” needs --to postgres or --to sqlite')
  const baseIds = [...new Set(base)]
  for (const id of baseIds)
    if (!/^p[a-z0-9]{14}$/.test(id))
      throw new UsageError(`“${id}” is not the id of a base (p and 14 characters)`)
  if (cancel && removeSource) throw new UsageError('--cancel and --remove-source exclude each other')
  return { to, baseIds, cancel, removeSource }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        to: { type: 'string' },
        base: { type: 'string', multiple: true, default: [] },
        cancel: { type: 'boolean', default: false },
        'remove-source': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @throws Error that says why the data cannot be moved */
async function runMove(options: Options, env: Environment, print: (line: string) => void): Promise<void> {
  const config = readConfig(env)
  if (config.databaseUrl === null) {
    throw new Error(
      options.baseIds.length === 0
        ? 'DATABASE_URL must name the PostgreSQL to move to or from'
        : 'DATABASE_URL must name the PostgreSQL of the installation: without it, all bases are files',
    )
  }
  requireDataDir(config)
  const files = openSqliteInstallation(config.dataDir)
  try {
    const database = await openPostgresInstallation(config.databaseUrl)
    const places = { sqlite3: files, pg: database }
    try {
      await (options.baseIds.length === 0
        ? moveInstallation(places, options, print)
        : moveChosen(places, options, print))
    } finally {
      await database.close()
    }
  } finally {
    await files.close()
  }
}

async function moveInstallation(
  places: Places,
  { to: target, cancel, removeSource: isRemoval }: Options,
  print: (line: string) => void,
): Promise<void> {
  const [from, to] = [places[HOMES[target].from], places[target]]
  if (cancel) {
    await cancelMove(from, to)
    return print(`Cancelled. Start the server ${from.start} again.`)
  }
  if (isRemoval) {
    await removeSource(from, to)
    return print(`Removed the data from ${from.label}.`)
  }
  print(`Moving ${from.label} to ${to.label}`)
  const moved = await move(from, to, print)
  if (moved) {
    print(
      `Moved ${counted(moved.bases, 'base')}: ${counted(moved.tables, 'table')} with ${counted(moved.rows, 'row')}, every cell compared`,
    )
    print(`Checksum: ${moved.checksum}`)
  } else print('Everything had been moved already.')
  print(
    `Start the server ${to.start} now. The data of ${from.label} was not changed; delete it with ` +
      `${moveCommandOf([], target, '--remove-source')} when you no longer want it.`,
  )
}

async function moveChosen(
  places: Places,
  { to, baseIds, cancel, removeSource: isRemoval }: Options,
  print: (line: string) => void,
): Promise<void> {
  if (cancel) {
    await cancelBaseMove(places, baseIds, to)
    return print('Cancelled. The bases are where they were; the server can start again.')
  }
  if (isRemoval) {
    await removeFormerHomes(places, baseIds, to)
    return print(`Removed the former data of ${baseIds.join(', ')}.`)
  }
  const { moved, kept, ...compared } = await moveBases(places, baseIds, to, print)
  for (const { title } of kept) print(`Base “${title}” has its records in ${HOMES[to].label} already.`)
  if (moved.length === 0) return
  print(
    `Moved ${counted(moved.length, 'base')} to ${HOMES[to].label}: ${counted(compared.tables, 'table')} with ${counted(compared.rows, 'row')}, ` +
      'every cell compared',
  )
  print(`Checksum: ${compared.checksum}`)
  const movedIds = moved.map(({ id }) => id)
  print(
    'The server can start again. The former data was not changed; delete it with ' +
      `${moveCommandOf(movedIds, to, '--remove-source')} when you no longer want it.`,
  )
}

import { existsSync, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { inMegabytes } from './backup.ts'
import type { BaseFileOptions, BaseFiles, Command, Program } from './command.ts'
import { counted, UsageError } from './command.ts'

/** Interval between two lines of progress. */
const TELL_EVERY_MS = 2_000

const WITHOUT = `  --without-attachments, --without-comments, --without-history
                leaves them out`

const EXPORT_HELP = `Usage: sheaf export BASE FILE.sheaf [options]

Writes a base into one file, with everything in it: tables, views, records, links,
attachments, comments and the history of changes. “sheaf import” opens it again,
here or elsewhere, and so does the web app; docs/base-file.md describes it. BASE is
the id of the base (p…, in the address of its pages) or its title.

With bases in files, stop the server first; with DATABASE_URL it may run. In a
running server, use “Export…” in the menu of the base.

  --replace     if the file exists
${WITHOUT}`

const IMPORT_HELP = `Usage: sheaf import FILE.sheaf --owner EMAIL [options]

Opens a file of “sheaf export” as a new base that belongs to the account with this
e-mail address. The file is checked as one that is uploaded. The base appears when
it is complete; an import that fails or is interrupted leaves nothing.

With bases in files, stop the server first; with DATABASE_URL it may run. In a
running server, use “Import Sheaf file” in the list of bases.

  --owner EMAIL the account that owns the base
  --without-history
                leaves out the history of changes`

/** `sheaf export`: a base as one file. */
export const exportCommand: Command = {
  summary: 'writes a base into one file',
  help: EXPORT_HELP,
  async run(args, env, print, program) {
    const { values, positionals } = parse(args, {
      replace: { type: 'boolean', default: false },
      'without-attachments': { type: 'boolean', default: false },
      'without-comments': { type: 'boolean', default: false },
      'without-history': { type: 'boolean', default: false },
    })
    const [base, file, ...rest] = positionals
    if (base === undefined || file === undefined || rest.length > 0)
      throw new UsageError('“sheaf export” needs a base and a file')
    const path = resolve(file)
    if (existsSync(path) && !values.replace) throw new Error(`${path} exists already: use --replace`)
    const options: BaseFileOptions = {
      withAttachments: !values['without-attachments'],
      withComments: !values['without-comments'],
      withHistory: !values['without-history'],
    }
    await withBaseFiles(program, env, async (files, signal) => {
      // Complete or not there: another program may watch the folder.
      const part = `${path}.part`
      rmSync(part, { force: true })
      try {
        const { title } = await files.write(base, part, options, { signal, progress: progress(print) })
        await rename(part, path)
        print(`Exported “${title}” to ${path}: ${inMegabytes(Bun.file(path).size)}`)
      } finally {
        rmSync(part, { force: true })
      }
    })
    return 0
  },
}

/** `sheaf import`: a file as a new base. */
export const importCommand: Command = {
  summary: 'opens such a file as a new base',
  help: IMPORT_HELP,
  async run(args, env, print, program) {
    const { values, positionals } = parse(args, {
      owner: { type: 'string' },
      'without-history': { type: 'boolean', default: false },
    })
    const { owner } = values
    const [file, ...rest] = positionals
    if (file === undefined || rest.length > 0) throw new UsageError('“sheaf import” needs a file')
    if (owner === undefined) throw new UsageError('“sheaf import” needs --owner')
    const path = resolve(file)
    if (!existsSync(path)) throw new Error(`${path} does not exist`)
    await withBaseFiles(program, env, async (files, signal) => {
      const options = { owner, withHistory: !values['without-history'] }
      const opened = await files.open(path, options, { signal, progress: progress(print) })
      print(
        `Imported “${opened.title}” (${opened.id}): ${counted(opened.tables, 'table')} with ${counted(opened.rows, 'record')}`,
      )
      for (const { table, field, count, example } of opened.leftOut)
        print(`Left out ${counted(count, 'value')} of ${field} in ${table}, such as: ${example}`)
      if (opened.unknownPeople.length > 0)
        print(`People without an account here: ${opened.unknownPeople.join(', ')}`)
    })
    return 0
  },
}

function parse<const T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** Runs `work`, which a signal ends: what it has begun is removed then. */
async function withBaseFiles(
  program: Program,
  env: Parameters<Command['run']>[1],
  work: (files: BaseFiles, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort(new Error('Interrupted. Nothing was changed.'))
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
  const files = await program.openBaseFiles(readConfig(env))
  try {
    await work(files, controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    await files.close()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop)
  }
}

function progress(print: (line: string) => void): (rows: number) => void {
  let next = Date.now() + TELL_EVERY_MS
  return (rows) => {
    if (Date.now() < next) return
    next = Date.now() + TELL_EVERY_MS
    print(`${rows} records …`)
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWebIfStale } from '../../scripts/build-web.ts'
import { measureAgainst } from './against.ts'
import { measureBackups } from './backups.ts'
import { makeBareFile, makeRows } from './bare-table.ts'
import { measureBaseFiles } from './base-files.ts'
import { measureExports, measurePostgresExports } from './exports.ts'
import { measureGrowth } from './growth.ts'
import { measureHooks } from './hooks.ts'
import { measureFormats, measureImport, measureLargeWorkbook } from './imports.ts'
import { measureLimits } from './limits.ts'
import { measureLinked } from './linked.ts'
import { measureManyBases } from './many-bases.ts'
import { readOptions } from './options.ts'
import { measurePresence } from './presence.ts'
import { startProgram } from './processes.ts'
import { type Product, startProduct } from './product.ts'
import { type Contest, compete } from './ratios.ts'
import { type Line, lineOf, printTable } from './report.ts'
import { measureStart } from './start.ts'
import { measureTableRestore } from './table-restore.ts'
import { measureUnderLoad } from './under-load.ts'
import { measureBrowser } from './web.ts'
import { measureWriters } from './writers.ts'

/*
 * `bun run bench` prints what is promised and what holds of it: ratios measured in one run, the product and the bare
 * server in turn. `--rows 1000000` for a large table; `--only list` for the lines with that word.
 * `--limits` measures the largest sizes instead: ten million rows (or `--rows`), 1,000 fields, 1,000 tables, 5,000 bases,
 * 100,000 links on a record, 200 people at work. It takes an hour or more and 10 GB; `--only "limits: fields"` is one of them.
 * `--against URL --account EMAIL:PASSWORD` compares with another server that speaks the same REST API instead; between
 * warming up and measuring, it leaves both idle for 45 seconds (`--idle 45`).
 */

const options = readOptionsOrExit()
const rows = Number(options.rows ?? (options.limits ? 10_000_000 : 100_000))

/** The options of the command line. Ends the program where one is wrong, before anything is started. */
function readOptionsOrExit() {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exit(2)
  }
}

const row = JSON.stringify({ ...makeRows(1)[0], Count: '#n' }).replace('"#n"', '#n')

/** A contest's path is that of the product's table; `path` is what follows it. */
const CONTESTS: Contest[] = [
  { name: 'list 25 records', promise: 1 / 2, method: 'GET', path: '' },
  { name: 'read one record', promise: null, method: 'GET', path: '/77' },
  { name: 'insert one record, eight clients', promise: 1 / 3, method: 'POST', path: '', body: row },
  {
    name: 'insert one record, one client',
    promise: 1 / 3,
    method: 'POST',
    path: '',
    body: row,
    connections: 1,
  },
  {
    name: 'update one record, eight clients',
    promise: 1 / 3,
    method: 'PATCH',
    path: '',
    body: '{"Id":50,"Count":#n}',
  },
  {
    name: 'update one record, one client',
    promise: 0.4,
    method: 'PATCH',
    path: '',
    body: '{"Id":50,"Count":#n}',
    connections: 1,
  },
  {
    name: 'insert 10,000 records',
    promise: 1 / 3,
    method: 'POST',
    path: '',
    connections: 1,
    body: JSON.stringify(makeRows(10_000)),
  },
]

/**
 * Reads of the whole table, each with a value of its own, so that none is answered from memory: counts are integers, and
 * more than 500.1 is more than 500. The bare server has the plain SQL for them, without an index.
 */
const wholeTableReads = ({ path, baseId, tableId }: Product): Contest[] => {
  const where = (text: string) => `where=${encodeURIComponent(text).replace('%23n', '#n')}`
  return [
    {
      name: 'filter and sort, first',
      promise: WHOLE_TABLE_PROMISES.sorted,
      method: 'GET',
      path: `${path}?${where('(State,eq,doing)~and(Count,gt,500.#n)')}&sort=-Price`,
      barePath: '/sorted?value=500.#n',
    },
    {
      name: 'group by, first',
      promise: WHOLE_TABLE_PROMISES.groups,
      method: 'GET',
      path: `/api/v1/db/data/noco/${baseId}/${tableId}/groupby?column_name=State&sort=State&${where('(Count,gt,500.#n)')}`,
      barePath: '/groups?value=500.#n',
    },
    {
      name: 'search in a text, first',
      promise: WHOLE_TABLE_PROMISES.search,
      method: 'GET',
      path: `${path}?${where('(Mail,like,%person#n%)')}`,
      barePath: '/search?value=person#n',
    },
  ]
}

/** The least shares of the bare server's requests. */
const WHOLE_TABLE_PROMISES = { sorted: 1 / 3, groups: 1 / 2, search: 1 / 2 }

const lines: Line[] = []
const isWanted = (name: string): boolean => name.includes(options.only)

if (options.against !== undefined) {
  await measureAgainst({
    url: options.against,
    account: options.account,
    rows,
    rounds: Number(options.rounds),
    seconds: Number(options.seconds),
    idleSeconds: Number(options.idle),
    isWanted,
  }).catch((error) => {
    console.error(`${options.against}: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(1)
  })
  process.exit()
}

if (options.limits) {
  const limits = await measureLimits(rows, isWanted)
  printTable(limits)
  process.exit(limits.some(({ holds }) => holds === false) ? 1 : 0)
}

await buildWebIfStale()
if (isWanted('PostgreSQL')) {
  lines.push(await measureWriters(Number(options.rounds), Number(options.seconds)))
}
if (isWanted('export')) lines.push(...(await measurePostgresExports(rows)))
if (isWanted('webhooks')) lines.push(...(await measureHooks()))
if (isWanted('table restore')) lines.push(await measureTableRestore())
if (isWanted('start')) lines.push(...(await measureStart()))
if (isWanted('growth')) lines.push(...(await measureGrowth(rows)))
if (isWanted('base file')) lines.push(...(await measureBaseFiles(rows)))
const folder = mkdtempSync(join(tmpdir(), 'sheaf-bare-'))
makeBareFile(join(folder, 'bare.db'), rows)
const product = await startProduct(rows)
const bare = await startProgram('tests/bench/bare-server.ts', {}, [join(folder, 'bare.db')])
try {
  // First, while the table has exactly these rows and the server does nothing else.
  if (isWanted('web')) lines.push(...(await measureBrowser(product, rows)))
  for (const contest of CONTESTS.filter(({ name }) => isWanted(name))) {
    const there = { ...contest, path: `${product.path}${contest.path}` }
    lines.push(lineOf(await compete(there, product, bare, Number(options.rounds), Number(options.seconds))))
  }
  for (const contest of wholeTableReads(product).filter(({ name }) => isWanted(name))) {
    lines.push(lineOf(await compete(contest, product, bare, Number(options.rounds), Number(options.seconds))))
  }
  if (isWanted('linked')) {
    lines.push(...(await measureLinked(product, Number(options.rounds), Number(options.seconds))))
  }
  if (isWanted('many bases')) {
    lines.push(await measureManyBases(product, Number(options.rounds), Number(options.seconds)))
  }
  if (isWanted('export')) lines.push(...(await measureExports(product, bare, rows)))
  if (isWanted('import')) {
    lines.push(await measureImport(product, Math.min(rows, 200_000)))
    lines.push(...(await measureFormats(product, Math.min(rows, 100_000))))
  }
  if (isWanted('import of a large workbook'))
    lines.push(...(await measureLargeWorkbook(product, Math.min(rows * 10, 1_000_000))))
  if (isWanted('backups')) lines.push(...(await measureBackups(product, rows)))
  if (isWanted('presence')) lines.push(...(await measurePresence(product)))
  if (isWanted('under load')) lines.push(await measureUnderLoad(product, Math.max(rows, 200_000)))
} finally {
  await bare.stop()
  await product.stop()
  rmSync(folder, { recursive: true, force: true })
}
console.log(
  `A table of ${rows.toLocaleString('en')} records and 12 fields; ${options.rounds} rounds of ${options.seconds} s, medians.`,
)
printTable(lines)
if (lines.some(({ holds }) => holds === false)) process.exitCode = 1

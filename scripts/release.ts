import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { startServer } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { VERSION } from '../src/version.ts'
import { findPostgresBin } from '../tests/support/find-binary.ts'
import { DATABASE_DUMP, fillFolder, KEPT_FOLDERS } from '../tests/support/kept-folder.ts'
import { editedSteps, hashSteps, RELEASED_STEPS } from '../tests/support/released-steps.ts'
import { createDatabase } from '../tests/support/servers.ts'
import { installDependencies } from './install.ts'
import { bun, ROOT, run } from './project.ts'

/*
 * `bun run release 0.2.0` prepares a release of the checked-out sources; run it again after further changes:
 *
 * - the version in package.json, and "Unreleased" of the changelog under that version;
 * - tests/fixtures/releases/steps.json: freezes the existing steps, which the architecture test enforces;
 * - tests/fixtures/releases/<version>-sqlite.tar.gz and …-postgres.tar.gz: a filled data folder of each kind, which
 *   tests/durability/kept-folders.test.ts upgrades and uses with every later version.
 *
 * Then run the tests, commit, and tag the commit `v0.2.0`.
 */

const KEEP = '--keep'
const argument = process.argv[2]

if (argument === KEEP) await keep()
else await prepare(argument)

async function prepare(version: string | undefined): Promise<void> {
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
    console.error('Usage: bun run release <version>, such as 0.2.0')
    process.exit(1)
  }
  await installDependencies()
  rewrite('package.json', (text) => text.replace(/"version": "[^"]*"/, `"version": "${version}"`))
  rewrite('CHANGELOG.md', (text) => withRelease(text, version, new Date().toISOString().slice(0, 10)))
  // In a new process, which reads the new version.
  process.exit(await run(bun('scripts/release.ts', KEEP)))
}

function rewrite(path: string, edit: (text: string) => string): void {
  const file = join(ROOT, path)
  writeFileSync(file, edit(readFileSync(file, 'utf8')))
}

/** Moves the "Unreleased" section of the changelog to the version's section, which may already exist. */
function withRelease(changelog: string, version: string, day: string): string {
  const heading = '## Unreleased\n'
  const start = changelog.indexOf(heading)
  if (start < 0) throw new Error('CHANGELOG.md has no heading "Unreleased"')
  const before = changelog.slice(0, start)
  const [fresh = '', ...older] = changelog.slice(start + heading.length).split(/^(?=## )/m)
  const isSame = older[0]?.startsWith(`## ${version} `) ?? false
  const known = isSame ? (older.shift() ?? '').replace(/^.*\n+/, '') : ''
  const entries = [fresh.trim(), known.trim()].filter((text) => text !== '').join('\n')
  const rest = older.length > 0 ? `\n${older.join('')}` : ''
  return `${before}${heading}\n## ${version} (${day})\n\n${entries}\n${rest}`
}

/** Records the steps and data folders of this version. */
async function keep(): Promise<void> {
  const stepsFile = Bun.file(join(ROOT, RELEASED_STEPS))
  const steps = hashSteps()
  const edited = (await stepsFile.exists()) ? editedSteps(await stepsFile.json(), steps) : []
  if (edited.length > 0)
    throw new Error(`Released steps were edited; append new ones instead: ${edited.join(', ')}`)
  await Bun.write(stepsFile, `${JSON.stringify(steps, null, 2)}\n`)
  await keepFolder('sqlite', null)
  const database = await createDatabase('postgres')
  await keepFolder('postgres', database.url)
  await database.drop()
  process.exit(0)
}

async function keepFolder(home: string, databaseUrl: string | null): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-release-'))
  const dataDir = join(folder, 'data')
  const environment = { PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error', DATA_DIR: dataDir }
  const server = await startServer(readConfig({ ...environment, DATABASE_URL: databaseUrl ?? undefined }))
  const kept = await fillFolder(server.url)
  await server.stop()
  writeFileSync(join(dataDir, 'kept.json'), JSON.stringify(kept, null, 2))
  if (databaseUrl !== null) writeFileSync(join(dataDir, DATABASE_DUMP), await dumpDatabase(databaseUrl))
  const path = join(ROOT, KEPT_FOLDERS, `${VERSION}-${home}.tar.gz`)
  await packFolder(dataDir, path)
  rmSync(folder, { recursive: true, force: true })
  console.log(`${relative(ROOT, path)}: ${Math.ceil(statSync(path).size / 1024)} KiB`)
}

/** Archives a data folder without locks and files that SQLite recreates. */
async function packFolder(dataDir: string, path: string): Promise<void> {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
  const files = names.filter(
    (name) => statSync(join(dataDir, name)).isFile() && !/(\.lock|-shm|-wal)$/.test(name),
  )
  const entries = files.sort().map((name) => [name, readFileSync(join(dataDir, name))] as const)
  mkdirSync(join(ROOT, KEPT_FOLDERS), { recursive: true })
  await Bun.write(path, await new Bun.Archive(Object.fromEntries(entries), { compress: 'gzip' }).bytes())
}

/** Dumps the database as plain statements, without psql commands and version-specific settings. */
async function dumpDatabase(url: string): Promise<string> {
  const options = ['--inserts', '--rows-per-insert=200', '--no-owner', '--no-privileges']
  const child = Bun.spawn([`${findPostgresBin()}/pg_dump`, ...options, url], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('pg_dump failed')
  return text.replace(/^(SET |\\|--).*\n/gm, '')
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installDependencies } from './install.ts'
import { bun, ROOT, run } from './project.ts'

/*
 * `bun run migrations <name>` compares the tables in migrations/schema.*.ts with the last migration of each
 * engine and writes the differences to `migrations/<engine>/<number>_<name>.sql`. Review the file before
 * committing; drizzle-kit asks about possible renames of tables and columns.
 */

const ENGINES = { sqlite: 'sqlite', postgres: 'postgresql' }

const name = process.argv[2]
if (name === undefined || !/^[a-z0-9_]+$/.test(name)) {
  console.error('Usage: bun run migrations <name>, with a name like add_view_locks')
  process.exit(1)
}

await installDependencies()
for (const [engine, dialect] of Object.entries(ENGINES)) {
  const schema = `migrations/schema.${engine}.ts`
  if (!existsSync(join(ROOT, schema)))
    throw new Error(`${schema} is missing: it exports the ${engine} tables`)
  const options = { dialect, schema, out: `migrations/${engine}`, name }
  const flags = Object.entries(options).map(([option, value]) => `--${option}=${value}`)
  const exitCode = await run(bun('--bun', 'node_modules/.bin/drizzle-kit', 'generate', ...flags))
  if (exitCode !== 0) process.exit(exitCode)
}

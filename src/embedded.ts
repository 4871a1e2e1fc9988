import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Files that the single executable carries, by the path they have in the project
 * (`migrations/sqlite/0001_start.sql`, `web/index.html`); the value is where they can be read.
 */
export interface EmbeddedFiles {
  migrations: Record<string, string>
  web: Record<string, string>
}

let embedded: EmbeddedFiles | null = null

/** Called once by the executable's entry, before anything is read. */
export function setEmbedded(files: EmbeddedFiles): void {
  embedded = files
}

/** The embedded files, or null where the product runs from its source tree. */
export const embeddedFiles = (): EmbeddedFiles | null => embedded

/** Folder of the project, where the product runs from source. */
export const PROJECT_ROOT = join(import.meta.dir, '..')

/** Name and text of an engine's migrations, in the order they apply. */
export function migrationFiles(engine: 'sqlite' | 'postgres'): { name: string; text: string }[] {
  const prefix = `migrations/${engine}/`
  const paths = embedded
    ? Object.entries(embedded.migrations).filter(([path]) => path.startsWith(prefix))
    : readdirSync(join(PROJECT_ROOT, prefix)).map((name) => [name, join(PROJECT_ROOT, prefix, name)] as const)
  return paths
    .map(([path, file]) => ({ name: path.replace(prefix, ''), file }))
    .filter(({ name }) => name.endsWith('.sql'))
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ name, file }) => ({ name, text: readFileSync(file, 'utf8') }))
}

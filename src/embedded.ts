import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Files embedded in the executable: readable path by project path (`migrations/sqlite/0001_start.sql`,
 * `web/index.html`).
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

/** The embedded files, or null when running from source. */
export const embeddedFiles = (): EmbeddedFiles | null => embedded

/** Folder of the project when running from source. */
export const PROJECT_ROOT = join(import.meta.dir, '..')

/** Names and texts of an engine's migrations, in order. */
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

import { BASE_FILE_STEPS } from '../../src/db/base-file.ts'
import { BASE_SCHEMA_STEPS } from '../../src/db/postgres/base-schema.ts'
import { migrationFiles } from '../../src/embedded.ts'

/** Hashes of the steps of released versions. Written by `bun run release`; do not edit. */
export const RELEASED_STEPS = 'tests/fixtures/releases/steps.json'

/**
 * Hashes of all steps that upgrade a data folder: metadata migrations by file name, steps of base files and
 * schemas by number.
 */
export function hashSteps(): Record<string, string> {
  const numbered = (name: string, steps: readonly unknown[]) =>
    steps.map((step, index) => [`${name} step ${index + 1}`, JSON.stringify(step)] as const)
  const migrations = (['sqlite', 'postgres'] as const).flatMap((engine) =>
    migrationFiles(engine).map(({ name, text }) => [`migrations/${engine}/${name}`, text] as const),
  )
  const steps = [
    ...migrations,
    ...numbered('src/db/base-file.ts', BASE_FILE_STEPS),
    ...numbered('src/db/postgres/base-schema.ts', BASE_SCHEMA_STEPS),
  ]
  return Object.fromEntries(steps.map(([name, text]) => [name, Bun.SHA256.hash(text, 'hex')]))
}

/** Names of released steps that are missing or changed. */
export const editedSteps = (released: Record<string, string>, steps: Record<string, string>): string[] =>
  Object.keys(released).filter((name) => steps[name] !== released[name])

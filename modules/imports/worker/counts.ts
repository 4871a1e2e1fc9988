import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import * as z from 'zod/mini'
import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import type { ImportOutcome } from '../plan.ts'

const count = z.int().check(z.minimum(0))
const problem = z.object({ row: z.number(), column: z.string(), value: z.string(), reason: z.string() })
const storedCounts = z.object({
  rowsRefused: count,
  cellsRefused: count,
  problems: count,
  samples: z.array(problem),
  encoding: z.string(),
  update: z.optional(z.custom<ImportResult['update']>()),
  links: z.optional(z.custom<ImportResult['links']>()),
})

export type StoredCounts = z.output<typeof storedCounts>

/** Stores what an import has counted. Called before its rows are published. */
export function writeCounts(path: string, outcome: ImportOutcome): void {
  const { rowsRefused, cellsRefused, problems, samples, encoding, update, links } = outcome
  const counts: StoredCounts = { rowsRefused, cellsRefused, problems, samples, encoding, update, links }
  writeFileSync(`${path}.part`, JSON.stringify(counts), { mode: 0o600 })
  renameSync(`${path}.part`, path)
}

/** What an import had counted before its process ended; null if that is not known. */
export function readCounts(path: string): StoredCounts | null {
  if (!existsSync(path)) return null
  const { data } = storedCounts.safeParse(parsed(readFileSync(path, 'utf8')))
  return data ?? null
}

/** Undefined for a file that a loss of power has left incomplete. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

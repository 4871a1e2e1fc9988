import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { AppError } from '../../../src/core/errors.ts'
import { m } from '../../../src/messages.gen.ts'
import { problem, type RunContext } from './context.ts'

/*
 * Titles of imported tables, fields and views: those that this base accepts for the titles of the source, and new ones in later
 * runs.
 */

const MAX_TITLE = 255
const MAX_VIEW_TITLE = 200

/** A title that fields accept. */
export const fieldTitle = (title: string, fallback: string): string =>
  cleanTitle(title, MAX_TITLE) || fallback

/** A title that tables accept. */
export const tableTitle = (title: string): string =>
  (cleanTitle(title, MAX_TITLE) || m.base_imports_untitled_table()).replace(/[./]/g, '-')

/** A title that views accept. */
export const viewTitle = (title: string): string =>
  cleanTitle(title, MAX_VIEW_TITLE) || m.base_imports_untitled_view()

const cleanTitle = (title: string, maxLength: number): string =>
  title
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .trim()

/** True for the title, or the same with the suffix of a repeated one. */
export const isTitled = (title: string, wanted: string): boolean =>
  title === wanted || (title.startsWith(`${wanted}_`) && /^\d+$/.test(title.slice(wanted.length + 1)))

/**
 * Renames an object whose title has changed in the source since the last run, unless it was renamed here. A title that this
 * base refuses is reported.
 *
 * @param titles `here`, and those of the source `before` and `now`, as this base accepts them
 */
export async function followTitle(
  { report }: RunContext,
  { here, before, now }: { here: string; before: string; now: string },
  about: Partial<ImportProblem>,
  rename: (title: string) => Promise<unknown>,
): Promise<void> {
  if (before === now || !isTitled(here, before)) return
  try {
    await rename(now)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    await report([problem('changed', error.message, about)])
  }
}

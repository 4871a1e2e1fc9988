import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { AppError } from '../../../src/core/errors.ts'
import { m } from '../../../src/messages.gen.ts'
import { uniqueTitle } from '../../schema/index.ts'
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

/** An object of the source with its counterpart here. */
interface Titled {
  /** The title here. */
  here: string
  /** Titles in the source, as this base accepts them: that of the last run, and the present one. */
  before: string
  now: string
  /** For the report. */
  about: Partial<ImportProblem>
  /** Gives the counterpart this title or, if it is taken, the same with a suffix. Returns the new title. */
  rename(title: string): Promise<string>
}

/**
 * Renames objects whose titles have changed in the source since the last run, unless they were renamed here. A title that
 * this base refuses is reported.
 *
 * @param objects all of one kind that were there in the last run, as one may get the title of another
 */
export async function followTitles({ report }: RunContext, objects: readonly Titled[]): Promise<void> {
  const rename = async ({ now, about, rename }: Titled): Promise<string> => {
    try {
      return await rename(now)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      await report([problem('changed', error.message, about)])
      return now
    }
  }
  const waiting = objects.filter(({ here, before, now }) => before !== now && isTitled(here, before))
  const suffixed: Titled[] = []
  while (waiting.length > 0) {
    // First one whose new title no other still has.
    const free = waiting.findIndex(({ now }, at) => {
      const others = waiting.toSpliced(at, 1).map(({ here }) => ({ title: here }))
      return uniqueTitle(now, others) === now
    })
    const [next] = waiting.splice(Math.max(0, free), 1)
    if (next && (await rename(next)) !== next.now && free < 0) suffixed.push(next)
  }
  // Titles that were exchanged are free now.
  for (const object of suffixed) await rename(object)
}

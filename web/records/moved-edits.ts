import type { Unsaved } from './types.ts'

/**
 * The unsaved edits of a table as those of the table that it was moved to. A file of its own, because the first load has no
 * room for it.
 *
 * @param fieldIds the ids of the fields by the former ones; edits of other fields are left out
 */
export function withNewIds({ drafts, cells }: Unsaved, fieldIds: ReadonlyMap<string, string>): Unsaved {
  const renamed = <T>(entries: Iterable<readonly [string, T]>): [string, T][] =>
    [...entries].flatMap(([id, value]) => {
      const newId = fieldIds.get(id)
      return newId === undefined ? [] : [[newId, value]]
    })
  return {
    drafts: drafts.map(([id, draft]) => [
      id,
      {
        ...draft,
        values: Object.fromEntries(renamed(Object.entries(draft.values))),
        failed: new Map(renamed(draft.failed)),
      },
    ]),
    cells: cells.flatMap(([id, local]) => {
      const kept = new Map(renamed(local))
      return kept.size > 0 ? [[id, kept]] : []
    }),
  }
}

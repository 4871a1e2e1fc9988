import { type DraftLink, takesLinks } from '../../../src/core/imports/draft.ts'
import { comparedColumns, proposeLinks } from '../../../src/core/imports/propose-links.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { timeZone } from '../../time-zone.ts'
import { trpc } from '../../trpc.ts'
import type { Draft } from './use-drafts.ts'

/** A table that columns can link to. */
export type LinkTarget = Pick<DraftLink, 'to' | 'title'>

/** Drafts whose columns have their links, and the tables that they can link to. */
export interface LinkedDrafts {
  drafts: Draft[]
  /** Of a draft, by its key. */
  targetsOf: (key: number) => LinkTarget[]
}

/**
 * Proposes links between the tables of an import, and to the tables of the base, by their values.
 * @param role the user's role in the base; existing tables are only compared for those who may create tables
 */
export function useLinks(baseId: string, drafts: Draft[], role: Parameters<typeof roleCan>[0]): LinkedDrafts {
  const mayCreate = roleCan(role, 'import.create')
  const isAsked = ({ analysis, target }: Draft) => mayCreate && analysis !== null && takesLinks(target)
  const asked = drafts.filter(isAsked)
  const answers = trpc.useQueries((q) =>
    asked.map((draft) =>
      q.imports.matchTables({
        baseId,
        timeZone,
        columns: comparedColumns(draft).map(({ title, values }) => ({ title, values })),
      }),
    ),
  )
  const existing = new Map(asked.map(({ key }, at) => [key, answers[at]?.data ?? []]))
  function targetsOf(key: number): LinkTarget[] {
    if (!drafts.some((draft) => draft.key === key && takesLinks(draft.target))) return []
    const imported = drafts.flatMap(({ key: other, target, isOn, analysis }): LinkTarget[] =>
      isOn && analysis && takesLinks(target) ? [{ to: { draft: other }, title: target.title }] : [],
    )
    const matched = existing.get(key) ?? []
    return [...imported, ...matched.map(({ tableId, title }): LinkTarget => ({ to: { tableId }, title }))]
  }
  return { targetsOf, drafts: proposeLinks(drafts, (key) => existing.get(key) ?? []) }
}

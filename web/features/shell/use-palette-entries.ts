import { Database } from 'lucide-react'
import { createElement, useMemo } from 'react'
import type { Action, ActionContext } from '../../actions/action.ts'
import { actionsFor } from '../../actions/index.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { lastPlaces } from '../../session/last-places.ts'
import { trpc } from '../../trpc.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { toast } from '../../ui/toast.ts'
import { TableIcon } from '../views/icons/chosen-icon.tsx'
import { ViewIcon } from '../views/manage/kind-info.tsx'

/** A line of the command palette. */
export interface PaletteEntry {
  id: string
  label: string
  group: string
  /** Where it belongs, e.g. the base of a table. */
  hint?: string
  icon?: Action['icon']
  shortcut?: string
  run: () => void
}

/** Bases whose tables are searched: the one on the screen, then those visited last. */
const MAX_BASES = 8

/** All that the palette offers here: tables and views at hand, actions of this screen, bases. */
export function usePaletteEntries(context: ActionContext): { entries: PaletteEntry[]; isReading: boolean } {
  const bases = trpc.bases.list.useQuery({})
  const searched = useMemo(() => {
    const visited = [context.base?.id, ...lastPlaces().map((place) => place.baseId)]
    const ids = new Set(visited.filter((id) => id !== undefined))
    return (bases.data ?? []).filter((base) => ids.has(base.id)).slice(0, MAX_BASES)
  }, [bases.data, context.base])
  const tableLists = trpc.useQueries((q) => searched.map((base) => q.schema.tables({ baseId: base.id })))
  const hereId = context.base?.id
  const here = tableLists[searched.findIndex((base) => base.id === hereId)]?.data
  const schemas = trpc.useQueries((q) => (here ?? []).map((table) => q.schema.table({ tableId: table.id })))

  const views = schemas.flatMap(({ data }): PaletteEntry[] => {
    // The default view is the table itself.
    const others = data?.views.filter((view) => !view.isDefault) ?? []
    return others.map((view) => ({
      id: view.id,
      label: view.title,
      group: m.shell_views(),
      hint: data?.table.title,
      icon: () => createElement(ViewIcon, { view, size: 16 }),
      run: () => goTo(paths.table(data?.table.baseId ?? '', view.tableId, view.id)),
    }))
  })

  const tables = searched.flatMap((base, index): PaletteEntry[] =>
    (tableLists[index]?.data ?? []).map((table) => ({
      id: table.id,
      label: table.title,
      group: base.id === hereId ? m.shell_tables_in_this_base() : m.shell_tables_in_other_bases(),
      hint: base.id === hereId ? undefined : base.title,
      icon: () => createElement(TableIcon, { table, size: 16 }),
      run: () => goTo(paths.table(base.id, table.id)),
    })),
  )
  const isHere = (entry: PaletteEntry) => entry.group === m.shell_tables_in_this_base()

  const actions = actionsFor(context)
    .filter((action) => !action.hidden)
    .map(
      (action): PaletteEntry => ({
        id: action.id,
        label: action.label(),
        group: m.shell_actions(),
        hint: action.hint?.(),
        icon: action.icon,
        shortcut: action.shortcut && shortcutLabel(action.shortcut),
        run: () => {
          Promise.resolve(action.run(context)).catch((error) => toast.error({ text: messageOf(error) }))
        },
      }),
    )

  const allBases = (bases.data ?? []).map(
    (base): PaletteEntry => ({
      id: base.id,
      label: base.title,
      group: m.shell_bases(),
      icon: Database,
      run: () => goTo(paths.base(base.id)),
    }),
  )

  return {
    entries: [
      ...tables.filter(isHere),
      ...views,
      ...actions,
      ...allBases,
      ...tables.filter((entry) => !isHere(entry)),
    ],
    isReading: bases.isPending || tableLists.some((list) => list.isPending),
  }
}

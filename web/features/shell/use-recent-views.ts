import { Table2 } from 'lucide-react'
import { createElement } from 'react'
import type { ActionContext } from '../../actions/action.ts'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { session } from '../../session/index.ts'
import { type RecentView, recentViews } from '../../session/recent-views.ts'
import { cache, trpc } from '../../trpc.ts'
import { ViewIcon } from '../views/kind-info.tsx'
import type { PaletteEntry } from './use-palette-entries.ts'

/** The views one was in last, without the one on the screen: Enter alone leads back. */
export function useRecentViews({ tableId, viewId }: ActionContext): PaletteEntry[] {
  const bases = new Map(trpc.bases.list.useQuery({}).data?.map((base) => [base.id, base.title]))
  const isHere = (view: RecentView) =>
    view.viewId === viewId || (viewId === null && view.isDefault && view.tableId === tableId)
  return recentViews(session.userId() ?? '')
    .filter((view) => bases.has(view.baseId) && !isHere(view))
    .flatMap((view): PaletteEntry[] => {
      // What has been read since knows better than what was noted: another name, or deleted.
      const schema = cache.schema.table.getData({ tableId: view.tableId })
      const now = schema?.views.find(({ id }) => id === view.viewId)
      if (schema && !now) return []
      return [
        {
          id: view.viewId,
          label: now?.title ?? view.title,
          group: t('Recent views'),
          hint: [schema?.table.title ?? view.tableTitle, bases.get(view.baseId)].join(' · '),
          icon: now ? () => createElement(ViewIcon, { view: now, size: 16 }) : Table2,
          run: () => goTo(paths.table(view.baseId, view.tableId, view.isDefault ? undefined : view.viewId)),
        },
      ]
    })
}

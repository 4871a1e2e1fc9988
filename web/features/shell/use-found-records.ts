import { keepPreviousData } from '@tanstack/react-query'
import { FileText } from 'lucide-react'
import type { ActionContext } from '../../actions/action.ts'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { useDebounced } from '../formula/use-debounced.ts'
import type { PaletteEntry } from './use-palette-entries.ts'

/** Time without a key after which records are looked for, and letters that there must be. */
const PAUSE_MS = 200
const MIN_LETTERS = 2

const NONE: PaletteEntry[] = []

/** Records of the base on the screen whose names hold what was typed. */
export function useFoundRecords({ base, tableId }: ActionContext, search: string): PaletteEntry[] {
  const text = useDebounced(search.trim(), PAUSE_MS)
  const isAsked = base !== null && text.length >= MIN_LETTERS && search.trim() !== ''
  const baseId = base?.id ?? ''
  const found = trpc.records.findByName.useQuery(
    { baseId, text, ...(tableId?.startsWith('m') && { tableId }) },
    { enabled: isAsked, placeholderData: keepPreviousData },
  )
  const tables = trpc.schema.tables.useQuery({ baseId }, { enabled: isAsked })
  if (!isAsked || !found.data) return NONE
  const titles = new Map(tables.data?.map((table) => [table.id, table.title]))
  return found.data.map((record) => ({
    id: `${record.tableId} ${record.recordId}`,
    label: record.name || t('Untitled'),
    group: t('Records'),
    hint: titles.get(record.tableId),
    icon: FileText,
    run: () =>
      goTo(`${paths.table(baseId, record.tableId)}?rowId=${encodeURIComponent(String(record.recordId))}`),
  }))
}

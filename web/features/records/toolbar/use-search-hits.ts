import { useEffect, useRef, useState } from 'react'
import type { RecordId } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import { cellText } from '../../../cells/cell-text.ts'
import { messageOf } from '../../../errors.ts'
import { orderOf } from '../../../records/record-order.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'
import { toast } from '../../../ui/toast.ts'
import { shownFields } from '../../views/state/arrange-fields.ts'
import { shownRecords, type TableContext } from '../context/table-context.ts'
import { untilRow } from '../context/until-row.ts'

/** The records that a search finds while all others stay in sight. */
export interface SearchHits {
  /** Null while it is not known. */
  count: number | null
  /** Which of them is selected, from 0; null: none yet. */
  at: number | null
  /** Selects the next or the one before, going round at the ends. */
  go(by: 1 | -1): void
}

/**
 * Walks from hit to hit. Which records are found, and where each stands in the view, the server says:
 * most of them are not loaded.
 * @param search null: nothing is searched
 */
export function useSearchHits(context: TableContext, search: Search | null): SearchHits {
  const [count, setCount] = useState<number | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const latest = useRef(context)
  latest.current = context
  const turn = useRef(0)
  const { text, fieldId } = search ?? { text: '', fieldId: null }

  async function select(index: number): Promise<void> {
    const mine = ++turn.current
    setAt(index)
    const place = await placeOf(latest.current, { text, fieldId }, index)
    const show = shownRecords(latest.current)?.show
    if (place && show) return mine === turn.current ? show(place.recordId) : undefined
    if (place) await untilRow(latest.current.store.source, place.row)
    if (place && mine === turn.current) shownRecords(latest.current)?.select(place.row, place.fieldId)
  }
  const show = useRef(select)
  show.current = select

  useEffect(() => {
    setCount(null)
    setAt(null)
    if (text === '') return
    let isGone = false
    async function find() {
      const { filter } = latest.current.store.query()
      const tableId = latest.current.schema.table.id
      const found = await api.records.count.query({
        selection: { tableId, filter, search: { text, fieldId }, timeZone },
      })
      if (isGone) return
      setCount(found.count)
      if (found.count > 0) await show.current(0)
    }
    find().catch(report)
    return () => {
      isGone = true
      turn.current++
    }
  }, [text, fieldId])

  return {
    count,
    at,
    go(by) {
      if (!count) return
      select(((at ?? (by > 0 ? -1 : 0)) + by + count) % count).catch(report)
    },
  }
}

const report = (error: unknown) => toast.error({ text: messageOf(error) })

/** Row and field of a hit within everything that the view shows; null where it has gone meanwhile. */
async function placeOf(
  { schema, state, store }: TableContext,
  search: Search,
  index: number,
): Promise<{ recordId: RecordId; row: number; fieldId: string | undefined } | null> {
  const { filter } = store.query()
  const shown = shownFields(schema.fields, state.view).map(({ field }) => field)
  const query = {
    tableId: schema.table.id,
    filter,
    ...orderOf(store.query()),
    timeZone,
    limit: 1,
  }
  const fieldIds = shown.map((field) => field.id)
  const page = await api.records.list.query({ query: { ...query, search, fieldIds, offset: index } })
  const recordId = page.ids[0]
  if (recordId === undefined) return null
  const { offset } = await api.records.position.query({
    query: { ...query, search: null, offset: 0 },
    recordId,
  })
  const wanted = search.text.toLocaleLowerCase()
  const field = shown.find((one) => {
    if (search.fieldId !== null) return one.id === search.fieldId
    const value = page.rows[0]?.[page.fieldIds.indexOf(one.id)] ?? null
    return cellText(one, value).toLocaleLowerCase().includes(wanted)
  })
  return offset === null ? null : { recordId, row: offset, fieldId: field?.id }
}

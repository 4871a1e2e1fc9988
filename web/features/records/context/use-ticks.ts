import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react'
import type { RecordId } from '../../../../src/core/model.ts'
import { NO_ROWS, withChecked } from '../../../grid/checks.ts'
import type { CheckedRows, GridSource } from '../../../grid/contract.ts'
import type { StoreQuery } from '../../../records/types.ts'

/** Clears “select all” when the filter or search changes, because it meant the records shown at that time. */
export function useUntickAll(checked: CheckedRows, query: StoreQuery, untick: () => void): void {
  const records = JSON.stringify([query.filter, query.search])
  const ticked = useRef({ records, checked, untick })
  if (ticked.current.checked !== checked) ticked.current = { records, checked, untick }
  ticked.current.untick = untick
  useEffect(() => {
    const { records: before, checked, untick } = ticked.current
    if (checked.kind === 'all' && before !== records) untick()
  }, [records])
}

/** The selected cards of a view. Records that leave the view are deselected. */
export function useTicks(
  source: GridSource,
  query: StoreQuery,
): [checked: CheckedRows, setChecked: Dispatch<SetStateAction<CheckedRows>>] {
  const [checked, setChecked] = useState<CheckedRows>(NO_ROWS)
  const latest = useRef(checked)
  latest.current = checked
  useUntickAll(checked, query, () => setChecked(NO_ROWS))
  useEffect(() => {
    let lookup = new AbortController()
    const dropAbsent = async (ids: readonly RecordId[], signal: AbortSignal) => {
      const located = await source.locate(ids, signal)
      const gone = ids.filter((id) => !located.has(id))
      if (gone.length > 0 && !signal.aborted) setChecked((now) => withChecked(now, gone, false))
    }
    const stop = source.subscribe(() => {
      lookup.abort()
      const { current } = latest
      if (current.kind === 'all') return
      const unseen = [...current.ids].filter((id) => source.indexOf(id) === undefined)
      if (unseen.length === 0) return
      lookup = new AbortController()
      const { signal } = lookup
      dropAbsent(unseen, signal).catch((error) => {
        if (!signal.aborted) console.warn('the ticked records could not be found', error)
      })
    })
    return () => {
      stop()
      lookup.abort()
    }
  }, [source])
  return [checked, setChecked]
}

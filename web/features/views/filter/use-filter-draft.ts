import { useRef, useState } from 'react'
import type { Filter, FilterGroup } from '../../../../src/core/filters/index.ts'
import { asGroup, fromGroup } from './filter-edit.ts'

/** A filter in its editor. */
interface FilterDraft {
  group: FilterGroup
  /** True while it has input that is not saved. */
  isEdited: { current: boolean }
  edit(group: FilterGroup): void
}

/** The draft of a filter. Without input that is not saved it follows changes from outside, such as undo. */
export function useFilterDraft(filter: Filter | null): FilterDraft {
  const [group, setGroup] = useState(() => asGroup(filter))
  const isEdited = useRef(false)
  const seen = useRef(filter)
  if (seen.current !== filter) {
    const isChange = !isSame(filter, seen.current) && !isSame(filter, fromGroup(group))
    seen.current = filter
    if (isChange && !isEdited.current) setGroup(asGroup(filter))
  }
  return {
    group,
    isEdited,
    edit(next) {
      isEdited.current = true
      setGroup(next)
    },
  }
}

const isSame = (one: Filter | null, other: Filter | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

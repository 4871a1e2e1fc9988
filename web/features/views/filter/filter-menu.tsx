import { useEffect, useRef } from 'react'
import type { Filter, FilterGroup as Group } from '../../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import toolbar from '../controls/toolbar.module.css'
import { completeFilter, fromGroup } from './filter-edit.ts'
import { FilterGroup } from './filter-group.tsx'
import styles from './filter-menu.module.css'
import { useFilterDraft } from './use-filter-draft.ts'

/** Debounce before input is applied. */
const PAUSE_MS = 350

export interface FilterMenuProps {
  fields: readonly Field[]
  filter: Filter | null
  people: readonly Person[]
  /** If false, a note says that the filter applies only to this user. */
  isSaved: boolean
  /** Explains the effect of an empty filter. */
  emptyHint?: string
  onChange: (filter: Filter | null) => void
}

/** Editor for a view's filter. Applies input after a pause in typing. */
export function FilterMenu({ fields, filter, people, isSaved, emptyHint, onChange }: FilterMenuProps) {
  const { group, isEdited, edit } = useFilterDraft(filter)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ group, filter, onChange })
  latest.current = { group, filter, onChange }

  /** While typing, incomplete conditions cause no request; they are saved when the panel closes. */
  function apply(isLeaving: boolean) {
    clearTimeout(timer.current)
    if (!isEdited.current) return
    const { group, filter, onChange } = latest.current
    const next = fromGroup(group)
    const effect = (of: Filter | null) => JSON.stringify(isLeaving ? of : completeFilter(of, fields))
    if (effect(next) === effect(filter)) return
    isEdited.current = false
    onChange(next)
  }
  const leave = useRef(apply)
  leave.current = apply
  useEffect(() => () => leave.current(true), [])

  function change(next: Group) {
    edit(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => leave.current(false), PAUSE_MS)
  }

  return (
    <div className={styles.menu}>
      {group.children.length === 0 && (
        <p className={toolbar.hint}>{emptyHint ?? m.views_no_filter_conditions_all_records()}</p>
      )}
      <FilterGroup group={group} path={[]} fields={fields} people={people} onChange={change} root={group} />
      {!isSaved && <p className={styles.note}>{m.views_only_see_filter_until_leave()}</p>}
    </div>
  )
}

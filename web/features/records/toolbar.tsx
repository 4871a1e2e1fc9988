import { ArrowDownUp, Columns3, ListFilter, Lock, Plus, Rows3 } from 'lucide-react'
import { useMemo } from 'react'
import type { RowHeight } from '../../../src/core/model.ts'
import type { Search } from '../../../src/core/query.ts'
import { t } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { openMenu } from '../../ui/menu.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { fieldsInOrder, fieldsToChoose } from '../views/arrange-fields.ts'
import { describeCondition, directionLabels } from '../views/describe-condition.ts'
import { FieldsMenu } from '../views/fields-menu.tsx'
import { completeFilter, conditionsOf, isComparable } from '../views/filter-edit.ts'
import { FilterMenu } from '../views/filter-menu.tsx'
import { SortMenu } from '../views/sort-menu.tsx'
import viewStyles from '../views/toolbar.module.css'
import { ToolbarButton } from '../views/toolbar-button.tsx'
import { SearchBox } from './search-box.tsx'
import { can, type TableContext } from './table-context.ts'
import styles from './table-view.module.css'

export interface TableToolbarProps {
  context: TableContext
  search: Search | null
  onSearch: (search: Search | null) => void
  isSearchOpen: boolean
  onSearchOpen: (open: boolean) => void
  isFilterOpen: boolean
  onFilterOpen: (open: boolean) => void
  onAddRecord: () => void
}

const HEIGHTS: readonly RowHeight[] = ['short', 'medium', 'tall', 'extra']

const heightLabel = (height: RowHeight): string =>
  ({ short: t('Short'), medium: t('Medium'), tall: t('Tall'), extra: t('Extra tall') })[height]

/** What decides which records are shown, and how. */
export function TableToolbar(props: TableToolbarProps) {
  const { context } = props
  const { schema, state, people } = context
  const { view } = state
  const all = useMemo(() => fieldsToChoose(schema.fields, view), [schema.fields, view])
  const fields = useMemo(() => all.filter(isComparable), [all])
  // The number of a record and the keys of links are hidden of themselves: that is not worth a tint.
  const hidden = fieldsInOrder(schema.fields, view).filter(
    ({ field, column }) =>
      !column.show && !field.isDisplay && !field.isPrimaryKey && field.type !== 'ForeignKey',
  )
  const conditions = conditionsOf(completeFilter(view.filter, all))
  const byId = new Map(all.map((field) => [field.id, field]))
  const sentences = conditions.flatMap(({ condition }) => {
    const field = byId.get(condition.fieldId)
    return field ? [describeCondition(condition, field, people)] : []
  })
  const sorts = view.sorts.flatMap(({ fieldId, direction }) => {
    const field = byId.get(fieldId)
    return field ? [`${field.title} ${directionLabels(field)[direction]}`] : []
  })

  return (
    <div className={styles.toolbar} role="toolbar" aria-label={t('View')}>
      <ToolbarButton
        icon={Columns3}
        label={t('Fields')}
        count={hidden.length}
        tip={
          hidden.length > 0
            ? t('Hidden: {fields}', { fields: hidden.map(({ field }) => field.title).join(', ') })
            : undefined
        }
        testId="fields-button"
      >
        {(close) => (
          <FieldsMenu
            fields={schema.fields}
            state={state}
            onAddField={
              can(context, 'field.create')
                ? () => {
                    const anchor = document.querySelector('[data-testid="fields-button"]')
                    close()
                    if (anchor) context.editField({ field: null, anchor })
                  }
                : undefined
            }
          />
        )}
      </ToolbarButton>
      <ToolbarButton
        icon={ListFilter}
        label={t('Filter')}
        count={conditions.length}
        tip={sentences.join(' · ')}
        testId="filter-button"
        isOpen={props.isFilterOpen}
        onOpen={props.onFilterOpen}
      >
        {() => (
          <FilterMenu
            fields={fields}
            filter={view.filter}
            people={people}
            isSaved={state.isSaved}
            onChange={(filter) => state.update({ filter })}
          />
        )}
      </ToolbarButton>
      <ToolbarButton
        icon={ArrowDownUp}
        label={t('Sort')}
        count={sorts.length}
        tip={sorts.join(' · ')}
        testId="sort-button"
      >
        {() => (
          <SortMenu fields={fields} sorts={view.sorts} onChange={(next) => state.update({ sorts: next })} />
        )}
      </ToolbarButton>
      <button
        type="button"
        className={viewStyles.button}
        aria-haspopup="menu"
        data-tip={t('Row height')}
        data-testid="row-height-button"
        aria-label={t('Row height')}
        onClick={(event) =>
          openMenu(
            event.currentTarget,
            HEIGHTS.map((height) => ({
              ...{ kind: 'action', label: heightLabel(height), checked: view.rowHeight === height },
              run: () => state.update({ rowHeight: height }),
            })),
            t('Row height'),
          )
        }
      >
        <Rows3 size={15} />
      </button>
      <SearchBox
        context={context}
        fields={fields}
        search={props.search}
        onSearch={props.onSearch}
        isOpen={props.isSearchOpen}
        onOpen={props.onSearchOpen}
      />
      <span className={styles.space} />
      {schema.readOnlyReason !== null && (
        <span
          className={styles.readOnly}
          role="note"
          aria-label={schema.readOnlyReason}
          data-tip={schema.readOnlyReason}
        >
          <Lock size={13} aria-hidden /> {t('Read only')}
        </span>
      )}
      {can(context, 'record.create') && (
        <Button
          size="small"
          variant="primary"
          icon={Plus}
          data-tip={t('New record')}
          data-tip-keys={shortcutLabel('alt+r')}
          data-testid="add-record"
          onClick={props.onAddRecord}
        >
          {t('Record')}
        </Button>
      )}
    </div>
  )
}

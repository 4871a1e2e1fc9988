import {
  ArrowDownUp,
  Columns3,
  Ellipsis,
  Layers,
  ListFilter,
  Lock,
  Palette,
  Plus,
  Rows3,
  Search as SearchIcon,
} from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { isForeignKey } from '../../../../src/core/fields/traits.ts'
import { isGroupable } from '../../../../src/core/group-key.ts'
import type { Field, RowHeight, Sort } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import type { Action } from '../../../actions/action.ts'
import { useScreenActions } from '../../../actions/index.ts'
import { m } from '../../../messages.gen.ts'
import { preloadAfterContent } from '../../../navigation/after-content.ts'
import { lazyPart, loadPart } from '../../../navigation/lazy-screen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import { openMenu } from '../../../ui/menu.tsx'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import { useIsNarrow } from '../../layout/sidebar-state.ts'
import { describeColoring } from '../../views/coloring/describe-coloring.ts'
import viewStyles from '../../views/controls/toolbar.module.css'
import { ToolbarButton } from '../../views/controls/toolbar-button.tsx'
import { ToolbarSheet } from '../../views/controls/toolbar-sheet.tsx'
import { describeCondition, directionLabels } from '../../views/filter/describe-condition.ts'
import { completeFilter, conditionsOf, isComparable } from '../../views/filter/filter-edit.ts'
import { fileItems } from '../../views/manage/view-files.ts'
import { fieldsInOrder, fieldsToChoose } from '../../views/state/arrange-fields.ts'
import { KeptChanges } from '../../views/state/kept-changes.tsx'
import styles from '../bars/table-view.module.css'
import { can, type TableContext } from '../context/table-context.ts'
import type { SearchMode } from './search-box.tsx'

/** Controls of a view's toolbar. */
export type ToolbarControl = 'fields' | 'filter' | 'group' | 'sort' | 'color' | 'height' | 'search'

/** Controls of a grid's toolbar. */
export const GRID_CONTROLS: readonly ToolbarControl[] = [
  ...(['fields', 'filter', 'group', 'sort', 'color', 'height', 'search'] as const),
]

export interface TableToolbarProps {
  context: TableContext
  controls: readonly ToolbarControl[]
  /** Controls of the view kind. */
  tools?: ReactNode
  search: Search | null
  onSearch: (search: Search | null) => void
  isSearchOpen: boolean
  onSearchOpen: (open: boolean) => void
  isFilterOpen: boolean
  onFilterOpen: (open: boolean) => void
  onAddRecord: () => void
}

const FieldsMenu = lazyPart(() => import('../../views/fields/fields-menu.tsx'), 'FieldsMenu')
const FilterMenu = lazyPart(() => import('../../views/filter/filter-menu.tsx'), 'FilterMenu')
const sortMenus = () => import('../../views/sort/sort-menu.tsx')
const GroupsMenu = lazyPart(sortMenus, 'GroupsMenu')
const SortMenu = lazyPart(sortMenus, 'SortMenu')
const SearchBox = lazyDialog(() => import('./search-box.tsx'), 'SearchBox')
preloadAfterContent(FieldsMenu, FilterMenu, GroupsMenu, SortMenu, SearchBox)
const ColoringMenu = lazyPart(() => import('../../views/coloring/coloring-menu.tsx'), 'ColoringMenu')

const viewMenu = async (context: TableContext) => {
  const { toolbarMenu } = await loadPart(() => import('../../views/manage/toolbar-menu.ts'))
  return toolbarMenu(context)
}

const HEIGHTS: readonly RowHeight[] = ['short', 'medium', 'tall', 'extra']

const heightLabel = (height: RowHeight): string =>
  ({
    short: m.records_short(),
    medium: m.records_medium(),
    tall: m.records_tall(),
    extra: m.records_extra_tall(),
  })[height]

/** Sorts or groups in words; those of deleted fields are left out. */
const describeSorts = (sorts: readonly Sort[], fields: ReadonlyMap<string, Field>): string[] =>
  sorts.flatMap(({ fieldId, direction }) => {
    const field = fields.get(fieldId)
    return field ? [`${field.title} ${directionLabels(field)[direction]}`] : []
  })

/** Anchor for the editor of a new field: the fields button, or the controls button in a narrow window. */
export const fieldsAnchor = (): Element | null =>
  document.querySelector('[data-testid="controls-button"]') ??
  document.querySelector('[data-testid="fields-button"]')

/** The toolbar of a view: fields, filter, sort, grouping, colours, search. */
export function TableToolbar(props: TableToolbarProps) {
  const { context, controls } = props
  const { schema, state, people } = context
  const { view } = state
  const isNarrow = useIsNarrow()
  const [isSheetOpen, setSheetOpen] = useState(false)
  const [opened, setOpened] = useState<ToolbarControl | null>(null)
  const panel = (control: ToolbarControl) => ({
    isOpen: opened === control,
    onOpen: (open: boolean) => setOpened((now) => (open ? control : now === control ? null : now)),
  })
  useToolbarActions(context, controls, (control) =>
    control === 'filter' ? props.onFilterOpen(true) : setOpened(control),
  )
  const all = useMemo(() => fieldsToChoose(schema.fields, view), [schema.fields, view])
  const fields = useMemo(() => all.filter(isComparable), [all])
  // Record ids and foreign keys are hidden by default and are not counted.
  const hidden = fieldsInOrder(schema.fields, view).filter(
    ({ field, column }) => !column.show && !field.isDisplay && !field.isPrimaryKey && !isForeignKey(field),
  )
  const conditions = conditionsOf(completeFilter(view.filter, all))
  const byId = new Map(all.map((field) => [field.id, field]))
  const sentences = conditions.flatMap(({ condition }) => {
    const field = byId.get(condition.fieldId)
    return field ? [describeCondition(condition, field, people)] : []
  })
  const sorts = describeSorts(view.sorts, byId)
  const groups = describeSorts(view.groups, byId)
  const colors = describeColoring(view.coloring, byId, people)

  const setup = (
    <>
      {controls.includes('fields') && (
        <ToolbarButton
          icon={Columns3}
          label={m.common_fields()}
          count={hidden.length}
          countText={m.records_hidden_count({ count: hidden.length })}
          tip={
            hidden.length > 0
              ? m.records_hidden_fields_named({ fields: hidden.map(({ field }) => field.title).join(', ') })
              : undefined
          }
          testId="fields-button"
          {...panel('fields')}
        >
          {(close) => (
            <FieldsMenu
              fields={schema.fields}
              state={state}
              onAddField={
                can(context, 'field.create')
                  ? () => {
                      const anchor = fieldsAnchor()
                      close()
                      if (anchor) context.editField({ field: null, anchor })
                    }
                  : undefined
              }
            />
          )}
        </ToolbarButton>
      )}
      {controls.includes('filter') && (
        <ToolbarButton
          icon={ListFilter}
          label={m.records_filter()}
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
              isSaved={state.savesFilters}
              onChange={(filter) => state.update({ filter })}
            />
          )}
        </ToolbarButton>
      )}
      {controls.includes('group') && (
        <ToolbarButton
          icon={Layers}
          label={m.records_group()}
          count={groups.length}
          tip={groups.join(' · ')}
          testId="group-button"
          {...panel('group')}
        >
          {() => (
            <GroupsMenu
              fields={all.filter(isGroupable)}
              groups={view.groups}
              onChange={(next) => state.update({ groups: next })}
            />
          )}
        </ToolbarButton>
      )}
      {controls.includes('sort') && (
        <ToolbarButton
          icon={ArrowDownUp}
          label={m.records_sort()}
          count={sorts.length}
          tip={sorts.join(' · ')}
          testId="sort-button"
          {...panel('sort')}
        >
          {() => (
            <SortMenu fields={fields} sorts={view.sorts} onChange={(next) => state.update({ sorts: next })} />
          )}
        </ToolbarButton>
      )}
      {controls.includes('color') && (
        <ToolbarButton
          icon={Palette}
          label={m.common_colour()}
          count={colors.length}
          tip={colors.join(' · ')}
          testId="color-button"
          {...panel('color')}
        >
          {() => (
            <ColoringMenu
              fields={fields}
              people={people}
              coloring={view.coloring}
              onChange={(coloring) => state.update({ coloring })}
            />
          )}
        </ToolbarButton>
      )}
      {controls.includes('height') && <RowHeightButton state={state} isNarrow={isNarrow} />}
      {props.tools}
    </>
  )

  return (
    <div className={styles.toolbar} role="toolbar" aria-label={m.common_view()}>
      {isNarrow ? (
        <ToolbarSheet
          count={hidden.length + conditions.length + groups.length + sorts.length + colors.length}
          isOpen={isSheetOpen || props.isFilterOpen || opened !== null}
          onOpen={(open) => {
            setSheetOpen(open)
            if (open) return
            props.onFilterOpen(false)
            setOpened(null)
          }}
        >
          {setup}
        </ToolbarSheet>
      ) : (
        setup
      )}
      {controls.includes('search') && <SearchControl {...props} fields={fields} />}
      <span className={styles.space} />
      <KeptChanges state={state} mayCreate={can(context, 'view.create')} />
      {schema.readOnlyReason !== null && (
        <span
          className={styles.readOnly}
          role="note"
          aria-label={schema.readOnlyReason}
          data-tip={schema.readOnlyReason}
        >
          <Lock size={13} aria-hidden /> {m.records_read_only()}
        </span>
      )}
      {!isVisitorPage && (
        <IconButton
          icon={Ellipsis}
          size="small"
          label={m.records_more_view_options()}
          aria-haspopup="menu"
          data-testid="view-more"
          onClick={(event) => openMenu(event.currentTarget, viewMenu(context), m.records_more_view_options())}
        />
      )}
      {can(context, 'record.create') && (
        <Button
          size="small"
          variant="primary"
          icon={Plus}
          data-tip={m.common_new_record()}
          data-tip-keys={shortcutLabel('alt+r')}
          data-testid="add-record"
          onClick={props.onAddRecord}
        >
          {m.common_record()}
        </Button>
      )}
    </div>
  )
}

/** The menu of row heights. Its name is shown in narrow windows, where the controls are a list. */
function RowHeightButton({ state, isNarrow }: Pick<TableContext, 'state'> & { isNarrow: boolean }) {
  return (
    <button
      type="button"
      className={viewStyles.button}
      aria-haspopup="menu"
      data-tip={m.records_row_height()}
      data-testid="row-height-button"
      aria-label={m.records_row_height()}
      onClick={(event) =>
        openMenu(
          event.currentTarget,
          HEIGHTS.map((height) => ({
            kind: 'action',
            label: heightLabel(height),
            checked: state.view.rowHeight === height,
            run: () => state.update({ rowHeight: height }),
          })),
          m.records_row_height(),
        )
      }
    >
      <Rows3 size={15} />
      {isNarrow && <span className={viewStyles.buttonLabel}>{m.records_row_height()}</span>}
    </button>
  )
}

/** The button of the search, or its box while it is open. */
function SearchControl({
  context,
  fields,
  search,
  onSearch,
  isSearchOpen,
  onSearchOpen,
}: TableToolbarProps & { fields: readonly Field[] }) {
  const [mode, setMode] = useState<SearchMode>({ fieldId: search?.fieldId ?? null, filters: true })
  if (isSearchOpen) {
    return (
      <SearchBox
        context={context}
        fields={fields}
        search={search}
        onSearch={onSearch}
        mode={mode}
        onMode={setMode}
        onClose={() => onSearchOpen(false)}
      />
    )
  }
  return (
    <IconButton
      icon={SearchIcon}
      iconSize={15}
      label={m.records_search_this_view()}
      shortcut={shortcutLabel('mod+f')}
      size="small"
      data-testid="search-button"
      onClick={() => onSearchOpen(true)}
    />
  )
}

/** Command palette entries of the controls that open a panel. */
const CONTROLS: Partial<Record<ToolbarControl, Pick<Action, 'label' | 'icon'>>> = {
  fields: { label: () => m.records_show_or_hide_fields(), icon: Columns3 },
  filter: { label: () => m.records_filter_menu(), icon: ListFilter },
  group: { label: () => m.records_group_by(), icon: Layers },
  sort: { label: () => m.records_sort_by(), icon: ArrowDownUp },
  color: { label: () => m.records_colour_by(), icon: Palette },
}

/** Adds the controls of a view's toolbar to the command palette. */
function useToolbarActions(
  { schema, state, role }: Pick<TableContext, 'schema' | 'state' | 'role'>,
  controls: readonly ToolbarControl[],
  open: (control: ToolbarControl) => void,
): void {
  const group = () => m.common_view()
  const panels = controls.flatMap((control): Action[] => {
    const named = CONTROLS[control]
    return named ? [{ id: `view.${control}`, group, ...named, run: () => open(control) }] : []
  })
  const files = fileItems({ schema, view: state.view, role }).flatMap((item): Action[] =>
    item.kind === 'action'
      ? [{ id: `view.file.${item.label}`, group, label: () => item.label, icon: item.icon, run: item.run }]
      : [],
  )
  useScreenActions([...panels, ...files])
}

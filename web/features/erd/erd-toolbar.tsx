import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { openMenu } from '../../ui/menu.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { toast } from '../../ui/toast.ts'
import { useIsNarrow } from '../layout/sidebar-state.ts'
import { ToolbarSheet } from '../views/controls/toolbar-sheet.tsx'
import styles from './erd-view.module.css'
import type { Point } from './layout.ts'
import { pngOf, svgOf } from './picture.ts'
import { DEFAULT_OPTIONS, type DiagramOptions, type ShownDiagram } from './shown-diagram.ts'

export interface ErdToolbarProps {
  options: DiagramOptions
  onOptions: (part: Partial<DiagramOptions>) => void
  search: string
  onSearch: (text: string) => void
  /** Goes to the next search result. */
  onNext: () => void
  /** Number of search results; null without a search. */
  foundCount: number | null
  title: string
  sources: readonly { id: string; title: string }[]
  hasJunctions: boolean
  /** The table that the diagram was opened for; null: the whole base. */
  focusTitle: string | null
  focusTableId: string | null
  /** Disables the export. */
  isEmpty: boolean
  /** Returns the diagram to export. */
  picture: () => { shown: ShownDiagram; places: ReadonlyMap<string, Point>; showTypes: boolean }
  tools?: ReactNode
}

/** Toolbar of a diagram: display options and export. */
export function ErdToolbar(props: ErdToolbarProps) {
  const { options, onOptions, sources } = props
  const isNarrow = useIsNarrow()
  const [isSheetOpen, setSheetOpen] = useState(false)

  async function save(kind: 'svg' | 'png') {
    try {
      const { shown, places, showTypes } = props.picture()
      const picture = svgOf(shown, places, { showTypes })
      const blob = kind === 'svg' ? new Blob([picture.svg], { type: 'image/svg+xml' }) : await pngOf(picture)
      const url = URL.createObjectURL(blob)
      const link = document.createElement('a')
      link.href = url
      link.download = `${props.title}.${kind}`
      link.click()
      // The browser has started the download by then.
      setTimeout(() => URL.revokeObjectURL(url), 10_000)
    } catch (error) {
      toast.error({ text: messageOf(error) })
    }
  }

  const choices = (
    <>
      <label className={styles.choice}>
        <span>{m.common_fields()}</span>
        <select
          value={options.fields}
          onChange={(event) => onOptions({ fields: event.target.value as DiagramOptions['fields'] })}
        >
          <option value="all">{m.erd_all()}</option>
          <option value="keys">{m.erd_keys_and_links()}</option>
          <option value="none">{m.common_none()}</option>
        </select>
      </label>
      {sources.length > 1 && (
        <label className={styles.choice}>
          <span>{m.erd_source()}</span>
          <select
            value={options.sourceId ?? ''}
            onChange={(event) => onOptions({ sourceId: event.target.value || null })}
          >
            <option value="">{m.erd_all()}</option>
            {sources.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      <Tick
        label={m.erd_types()}
        checked={options.showTypes}
        onChange={(showTypes) => onOptions({ showTypes })}
      />
      {props.hasJunctions && (
        <Tick
          label={m.erd_junction_tables()}
          checked={options.showJunctions}
          onChange={(showJunctions) => onOptions({ showJunctions })}
        />
      )}
      {props.focusTitle !== null && (
        <Tick
          label={m.erd_only_tables_linked_to_title({ title: props.focusTitle })}
          checked={options.tableId !== null}
          onChange={(only) => onOptions({ tableId: only ? props.focusTableId : null })}
        />
      )}
    </>
  )
  const buttons = (
    <>
      {props.tools}
      <Button
        size="small"
        icon={Download}
        aria-haspopup="menu"
        disabled={props.isEmpty}
        onClick={(event) =>
          openMenu(
            event.currentTarget,
            [
              { kind: 'action', label: m.erd_png_image(), run: () => void save('png') },
              { kind: 'action', label: m.erd_svg_image(), run: () => void save('svg') },
            ],
            m.erd_export_as_image(),
          )
        }
      >
        {m.erd_export_as_image()}
      </Button>
    </>
  )

  return (
    <div className={styles.toolbar} role="toolbar" aria-label={m.erd_diagram()}>
      <SearchInput
        label={m.erd_find_a_table_or_field()}
        value={props.search}
        onSearch={props.onSearch}
        onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && props.onNext()}
        className={styles.search}
        after={
          <span className={styles.found} role="status">
            {props.foundCount !== null && formatNumber(props.foundCount)}
          </span>
        }
      />
      {isNarrow ? (
        <ToolbarSheet
          count={countOfChanges(options, props.focusTableId)}
          isOpen={isSheetOpen}
          onOpen={setSheetOpen}
        >
          {choices}
          {buttons}
        </ToolbarSheet>
      ) : (
        <>
          {choices}
          <span className={styles.space} />
          {buttons}
        </>
      )}
    </div>
  )
}

function Tick({
  label,
  checked,
  onChange,
}: {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <label className={styles.choice}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span dir="auto">{label}</span>
    </label>
  )
}

/** Number of options that differ from their defaults. */
const countOfChanges = (options: DiagramOptions, focusTableId: string | null): number =>
  Object.entries({ ...DEFAULT_OPTIONS, tableId: focusTableId }).filter(
    ([name, first]) => options[name as keyof DiagramOptions] !== first,
  ).length

import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { flushSync } from 'react-dom'
import { actionOfKey } from '../actions/index.ts'
import { preloadEditors } from '../cells/cell.ts'
import { usePeople } from '../cells/people-context.ts'
import { firstContent } from '../navigation/first-content.ts'
import { lazyPart, loadPart } from '../navigation/lazy-screen.ts'
import { showError } from '../ui/attempt.ts'
import { GridBox } from '../ui/composite.tsx'
import { holdInput } from '../ui/held-input.ts'
import { isMac, stepOfKey } from '../ui/shortcuts.ts'
import { resolveColumn } from './columns.ts'
import type { GridHandle, GridProps } from './contract.ts'
import { Engine, EngineProvider, UNKNOWN_ROWS } from './engine.ts'
import styles from './grid.module.css'
import { intentOf } from './keys.ts'
import {
  ADD_FIELD_WIDTH,
  FOOTER_HEIGHT,
  HEADER_HEIGHT,
  layoutColumns,
  ROW_NUMBER_WIDTH,
  type Span,
} from './layout.ts'
import { Rows } from './parts/body.tsx'
import { Footer } from './parts/footer.tsx'
import { Header } from './parts/header.tsx'
import { Receiver } from './parts/receiver.tsx'
import { clampCell, selectCell } from './selection.ts'
import { useStore } from './store.ts'

export type { ActiveCell, GridHandle, GridProps } from './contract.ts'

const OthersLayer = lazyPart(() => import('./parts/others-layer.tsx'), 'OthersLayer')

/**
 * A table of records with virtual rows and columns in one native scroll container. It keeps the selection, the open
 * editor and drags; `source` provides the rows and `commands` performs every change. Give it a `key` per view, which
 * resets its state.
 *
 * It fills its parent, which must have a height.
 */
export function Grid(props: GridProps): ReactNode {
  const [engine] = useState(() => new Engine())
  const gridId = useId()
  const root = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const { source, rowHeight, frozen } = props
  const columns = useMemo(() => props.columns.map(resolveColumn), [props.columns])
  const width = useStore(engine.viewport.width)
  const dragged = useStore(engine.widths)
  const layout = useMemo(
    () =>
      layoutColumns(
        columns.map((each) => dragged.get(each.fieldId) ?? each.width),
        frozen,
        width,
      ),
    [columns, dragged, frozen, width],
  )
  const revision = useRevision(props)
  engine.people = usePeople()
  const rowCount = source.rowCount ?? UNKNOWN_ROWS

  useLayoutEffect(
    () => engine.sync(props, columns, layout, revision),
    [engine, props, columns, layout, revision],
  )
  useLayoutEffect(() => {
    if (scroller.current && body.current) return engine.viewport.attach(scroller.current, body.current)
  }, [engine])
  const [arrival] = useState(() => Promise.withResolvers<Interaction>())
  const interaction = useInteraction(engine, props.loadCommands, root, arrival.resolve)
  // Leaving the view commits an open editor. Runs before the editor unmounts.
  useLayoutEffect(() => () => void interaction?.leaveEditor(engine, 'stay', false), [engine, interaction])
  useEffect(() => interaction?.watchSelection(engine, gridId), [engine, gridId, interaction])
  const events = useMemo(() => interaction?.gridEvents(engine), [engine, interaction])
  useEffect(() => events?.listenToClipboard(), [events])
  useImperativeHandle(props.ref, () => gridHandle(engine, arrival.promise), [engine, arrival])

  const frozenColumns = { first: 0, last: layout.frozen - 1 }
  const scrolledColumns = { first: layout.frozen, last: columns.length - 1 }
  const layers = (span: Span) => (
    <>
      {props.others && (
        <OthersLayer
          others={props.others}
          props={props}
          layout={layout}
          revision={revision}
          all={columns}
          columns={span}
        />
      )}
      {interaction && (
        <>
          <interaction.SelectionLayer props={props} layout={layout} columns={span} />
          <interaction.EditorLayer props={props} layout={layout} all={columns} columns={span} />
        </>
      )}
    </>
  )
  const addFieldRoom = props.rights.addFields ? ADD_FIELD_WIDTH : 24
  return (
    <EngineProvider value={engine}>
      <div
        ref={root}
        className={styles.root}
        data-testid="grid"
        data-grid
        data-row-height={rowHeight}
        data-takes-input={interaction !== null || undefined}
        data-narrow={layout.rowNumberWidth < ROW_NUMBER_WIDTH || undefined}
      >
        <Receiver props={props} layout={layout} gridId={gridId} events={events} />
        <GridBox
          ref={scroller}
          id={gridId}
          role={props.groups ? 'treegrid' : 'grid'}
          // The receiver is the tab stop.
          tabIndex={-1}
          className={styles.scroller}
          aria-label={props.label}
          aria-rowcount={source.rowCount === null ? -1 : source.rowCount + 1}
          aria-colcount={columns.length + 1}
          aria-multiselectable
          aria-readonly={props.rights.editRecords ? undefined : true}
          onKeyDown={events?.onKeyDown}
          onPointerDown={events?.onPointerDown}
          onMouseDown={events?.onMouseDown}
          onClick={events?.onClick}
          onDoubleClick={events?.onDoubleClick}
          onContextMenu={events?.onContextMenu}
          onDragOver={events?.onDragOver}
          onDrop={events?.onDrop}
          onMouseOver={events?.onMouseOver}
          onFocus={events?.onFocus}
        >
          <div
            className={styles.canvas}
            style={canvasStyle(layout.width + addFieldRoom, layout.rowNumberWidth)}
          >
            <Header props={props} columns={columns} layout={layout} rowCount={rowCount} />
            <GridBox ref={body} role="rowgroup" className={styles.body}>
              <Rows props={props} columns={columns} layout={layout} rowCount={rowCount} revision={revision} />
              {layers(scrolledColumns)}
              <div
                className={styles.frozenLayer}
                style={{ insetInlineStart: 0, inlineSize: layout.frozenWidth }}
                role="presentation"
              >
                {layers(frozenColumns)}
              </div>
            </GridBox>
            <Footer props={props} columns={columns} layout={layout} />
          </div>
        </GridBox>
        {source.rowCount === 0 && props.empty && (
          <div className={styles.empty} style={{ insetBlock: `${HEADER_HEIGHT + 40}px ${FOOTER_HEIGHT}px` }}>
            {props.empty}
          </div>
        )}
        {interaction && <interaction.DragLayer props={props} layout={layout} />}
        <LiveRegion engine={engine} />
      </div>
    </EngineProvider>
  )
}

// A custom property, set once instead of on every row.
function canvasStyle(inlineSize: number, rowNumberWidth: number): CSSProperties {
  const variables: Record<`--${string}`, string> = { '--row-number-width': `${rowNumberWidth}px` }
  return { inlineSize, ...variables }
}

/** Increases when the source's count or order changes, or groups are expanded or collapsed. */
function useRevision({ source, groups }: GridProps): number {
  const [counter] = useState(() => ({ value: 0 }))
  return useSyncExternalStore(
    useMemo(
      () => (onChange: () => void) => {
        const changed = () => {
          counter.value++
          onChange()
        }
        const stops = [source.subscribe(changed), groups?.subscribe(changed)]
        return () => {
          for (const stop of stops) stop?.()
        }
      },
      [source, groups, counter],
    ),
    () => counter.value,
  )
}

type Interaction = typeof import('./interaction.ts')

const loadInteraction = () => loadPart(() => import('./interaction.ts'))

/**
 * What handles input: loaded after the first content, or on the first input, which is held until then. Null before.
 */
function useInteraction(
  engine: Engine,
  loadCommands: GridProps['loadCommands'],
  root: RefObject<HTMLElement | null>,
  arrive: (interaction: Interaction) => void,
): Interaction | null {
  const [interaction, setInteraction] = useState<Interaction | null>(null)
  useLayoutEffect(() => {
    if (!root.current) return
    let isGone = false
    let isLoading = false
    let isPressed = false
    async function start() {
      const [loaded, commands] = await Promise.all([loadInteraction(), loadCommands(), preloadEditors()])
      if (isGone) return
      engine.start(loaded.idle, commands)
      // At once, so that no later input overtakes what was held.
      flushSync(() => setInteraction(loaded))
      arrive(loaded)
      // Focused by Tab in the meantime. Not before presses: one on the active cell does more than to select it.
      if (engine.hasFocus && !isPressed) loaded.takeFocus(engine)
      await input.replay()
      if (engine.hasFocus) loaded.takeFocus(engine)
      loaded.finishComposing(engine)
    }
    const load = (report: (error: unknown) => void) => {
      if (isLoading) return
      isLoading = true
      start().catch((error) => {
        isLoading = false
        report(error)
      })
    }
    const input = holdInput(root.current, {
      usesKey: (event, isWaiting) =>
        intentOf(event, { rtl: engine.viewport.rtl, mac: isMac }) !== null ||
        (isWaiting && (stepOfKey(event) !== null || actionOfKey(event) !== undefined)),
      takeFocus() {
        isPressed = true
        engine.focus()
      },
      onInput: () => load(showError),
    })
    void firstContent.then(() => load((error) => console.warn('the grid takes no input yet', error)))
    return () => {
      isGone = true
      input.stop()
    }
  }, [engine, loadCommands, root, arrive])
  return interaction
}

/** Announces actions to screen readers: cells copied, a value rejected. */
function LiveRegion({ engine }: { engine: Engine }): ReactNode {
  return (
    <div role="status" aria-live="polite" className={styles.announcer} data-testid="grid-status">
      {useStore(engine.announcement)}
    </div>
  )
}

/** Expands the collapsed group that hides a row. */
function openGroupsOf(engine: Engine, row: number): void {
  if (engine.lines.isShown(row)) return
  engine.props.groups?.open(row)
  engine.refresh()
}

/** The grid's API for menus, toolbars and dialogs. */
function gridHandle(engine: Engine, arrival: Promise<Interaction>): GridHandle {
  const columnOf = (fieldId: string | undefined) => {
    const found = engine.columns.findIndex((column) => column.fieldId === fieldId)
    return found >= 0 ? found : (engine.active?.column ?? 0)
  }
  const later = (run: (interaction: Interaction) => unknown) => void arrival.then(run)
  // The browser fires the same event as for Ctrl+C, so copying has one code path.
  const byBrowser = (command: 'copy' | 'cut') => {
    engine.focus()
    document.execCommand(command)
  }
  return {
    focus: () => engine.focus(),
    select(rowIndex, fieldId) {
      engine.refresh()
      if (engine.size.rows === 0) return
      const cell = clampCell({ row: rowIndex, column: columnOf(fieldId) }, engine.size)
      openGroupsOf(engine, cell.row)
      engine.select(selectCell(cell), null)
      engine.viewport.reveal(cell, true)
    },
    edit(rowIndex, fieldId) {
      engine.refresh()
      openGroupsOf(engine, rowIndex)
      later(({ startEditing }) => startEditing(engine, { row: rowIndex, column: columnOf(fieldId) }, null))
    },
    selectedAreas: () => engine.areas(),
    clearChecked: () => engine.checks.clear(),
    check: (ids) => engine.checks.only(ids),
    copy: () => byBrowser('copy'),
    cut: () => byBrowser('cut'),
    paste: () => arrival.then(({ pasteFromMenu }) => pasteFromMenu(engine)),
    clear: () => {
      engine.clear()
    },
    fillDown: () => later(({ fillFromEdge }) => fillFromEdge(engine, 'down')),
    fitColumns: (fieldIds) =>
      later(({ fitColumns }) => {
        for (const fieldId of fieldIds) fitColumns(engine, columnOf(fieldId))
      }),
  }
}

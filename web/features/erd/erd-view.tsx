import {
  applyNodeChanges,
  Background,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeChange,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import { KeyRound, Link2 } from 'lucide-react'
import { createContext, use } from 'react'
import { HEAD_HEIGHT, lineBetween } from './layout.ts'
import { moreFields } from './picture.ts'
import '@xyflow/react/dist/base.css'
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Diagram } from '../../../src/core/diagram.ts'
import { m } from '../../messages.gen.ts'
import { ErdToolbar } from './erd-toolbar.tsx'
import styles from './erd-view.module.css'
import { BOX_WIDTH, boxHeight, layoutBoxes, ROW_HEIGHT } from './layout.ts'
import {
  DEFAULT_OPTIONS,
  type DiagramOptions,
  type ShownLink,
  type ShownTable,
  shownDiagram,
} from './shown-diagram.ts'

export interface ErdViewProps {
  diagram: Diagram
  /** File name of exported images. */
  title: string
  /** Initially shows only this table and the tables linked with it. */
  tableId?: string
  /** Initially shows only this source. */
  sourceId?: string
  /** The sources to choose from; absent or one: no choice. */
  sources?: readonly { id: string; title: string }[]
  /** Absent: the boxes cannot be opened. */
  onOpenTable?: (tableId: string) => void
  /** Further buttons of the toolbar. */
  tools?: React.ReactNode
}

type LinkEdge = Edge<{ link: ShownLink }, 'link'>

const NODE_TYPES = { table: TableBox }
const EDGE_TYPES = { link: LinkLine }

/** A base's tables as boxes, connected by lines: can be moved, zoomed, searched, and exported as an image. */
export function ErdView(props: ErdViewProps) {
  return (
    <ReactFlowProvider>
      <OpenTableContext value={props.onOpenTable}>
        <DiagramCanvas {...props} />
      </OpenTableContext>
    </ReactFlowProvider>
  )
}

function DiagramCanvas({ diagram, title, tableId, sourceId, sources, onOpenTable, tools }: ErdViewProps) {
  const [options, setOptions] = useState<DiagramOptions>({
    ...DEFAULT_OPTIONS,
    sourceId: sourceId ?? null,
    tableId: tableId ?? null,
  })
  const [search, setSearch] = useState('')
  const shown = useMemo(() => shownDiagram(diagram, options), [diagram, options])
  const [nodes, setNodes] = useState<TableNode[]>([])
  const { fitView, setViewport } = useReactFlow()
  const canvas = useRef<HTMLDivElement>(null)
  const lastFound = useRef(-1)
  /** The box folded or unfolded last, until it has been scrolled into view. */
  const lastToggled = useRef<string | null>(null)

  // A change of the boxes lays the diagram out again; manual positions last until then.
  useEffect(() => {
    const places = layoutBoxes(shown)
    setNodes(
      shown.tables.map((table) => ({
        id: table.id,
        type: 'table' as const,
        position: places.get(table.id) ?? { x: 0, y: 0 },
        width: BOX_WIDTH,
        height: boxHeight(table),
        ariaLabel: m.erd_table_title({ title: table.title }),
        data: { table, showTypes: options.showTypes, isFound: false },
      })),
    )
    const place = lastToggled.current === null ? undefined : places.get(lastToggled.current)
    const width = canvas.current?.clientWidth ?? 0
    lastToggled.current = null
    const frame = requestAnimationFrame(() =>
      place
        ? void setViewport({ x: (width - BOX_WIDTH) / 2 - place.x, y: ROW_HEIGHT - place.y, zoom: 1 })
        : void fitView({ padding: 0.1, maxZoom: 1 }),
    )
    return () => cancelAnimationFrame(frame)
  }, [shown, options.showTypes, fitView, setViewport])

  const toggleFold = useCallback((tableId: string) => {
    lastToggled.current = tableId
    setOptions((before) => ({
      ...before,
      unfolded: before.unfolded.includes(tableId)
        ? before.unfolded.filter((id) => id !== tableId)
        : [...before.unfolded, tableId],
    }))
  }, [])

  const searchText = search.trim().toLowerCase()
  const found = useMemo(
    () =>
      searchText === ''
        ? []
        : shown.tables.filter(
            (table) =>
              table.title.toLowerCase().includes(searchText) ||
              [...table.fields, ...table.folded].some(({ title }) =>
                title.toLowerCase().includes(searchText),
              ),
          ),
    [shown, searchText],
  )
  useEffect(() => {
    const ids = new Set(found.map(({ id }) => id))
    setNodes((before) =>
      before.map((node) =>
        node.data.isFound === ids.has(node.id)
          ? node
          : { ...node, data: { ...node.data, isFound: ids.has(node.id) } },
      ),
    )
    lastFound.current = -1
    if (found.length > 0) void fitView({ nodes: found.map(({ id }) => ({ id })), maxZoom: 1, padding: 0.3 })
  }, [found, fitView])

  const edges = useMemo(
    () =>
      shown.links.map(
        (link): LinkEdge => ({
          id: link.id,
          type: 'link',
          source: link.from.tableId,
          target: link.to.tableId,
          data: { link },
        }),
      ),
    [shown],
  )

  /** Shows and focuses the next box that matches the search. */
  async function goToNextFound(): Promise<void> {
    lastFound.current = (lastFound.current + 1) % Math.max(1, found.length)
    const table = found[lastFound.current]
    if (!table) return
    await fitView({ nodes: [{ id: table.id }], maxZoom: 1, padding: 0.3 })
    canvas.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${table.id}"]`)?.focus()
  }

  function openByKey(event: KeyboardEvent): void {
    const box = event.target
    if (event.key !== 'Enter' || !(box instanceof HTMLElement)) return
    if (!box.classList.contains('react-flow__node')) return
    const table = shown.tables.find(({ id }) => id === box.dataset.id)
    if (!table || !onOpenTable) return
    event.preventDefault()
    event.stopPropagation()
    openTable(table)
  }

  /** Junction tables have no screen. */
  function openTable(table: ShownTable): void {
    if (!table.isJunction) onOpenTable?.(table.id)
  }

  return (
    <div className={styles.screen}>
      <ErdToolbar
        options={options}
        onOptions={(part) => setOptions((before) => ({ ...before, ...part }))}
        search={search}
        onSearch={setSearch}
        onNext={() => void goToNextFound()}
        foundCount={searchText === '' ? null : found.length}
        title={title}
        sources={sources ?? []}
        hasJunctions={diagram.tables.some(({ isJunction }) => isJunction)}
        focusTitle={diagram.tables.find(({ id }) => id === tableId)?.title ?? null}
        focusTableId={tableId ?? null}
        isEmpty={shown.tables.length === 0}
        picture={() => ({
          shown,
          places: new Map(nodes.map(({ id, position }) => [id, position])),
          showTypes: options.showTypes,
        })}
        tools={tools}
      />
      <ToggleFoldContext value={toggleFold}>
        <div ref={canvas} className={styles.canvas} dir="ltr" data-testid="erd" onKeyDownCapture={openByKey}>
          {shown.tables.length === 0 && <p className={styles.empty}>{m.erd_no_tables_to_show()}</p>}
          <ReactFlow<TableNode, LinkEdge>
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            onNodesChange={(changes: NodeChange<TableNode>[]) =>
              setNodes((before) => applyNodeChanges(changes, before))
            }
            onNodeDoubleClick={(_, { data }) => openTable(data.table)}
            zoomOnDoubleClick={false}
            nodesConnectable={false}
            edgesFocusable={false}
            deleteKeyCode={null}
            onlyRenderVisibleElements
            minZoom={0.05}
            maxZoom={2}
            fitView
            proOptions={{ hideAttribution: false }}
            ariaLabelConfig={{
              'controls.zoomIn.ariaLabel': m.common_zoom_in(),
              'controls.zoomOut.ariaLabel': m.common_zoom_out(),
              'controls.fitView.ariaLabel': m.common_show_all(),
              'controls.ariaLabel': m.erd_zoom(),
              'node.a11yDescription.default': onOpenTable
                ? m.erd_press_enter_open_table_press()
                : m.erd_press_space_arrow_keys_move(),
              'node.a11yDescription.keyboardDisabled': '',
              'node.a11yDescription.ariaLiveMessage': ({ x, y }) =>
                m.erd_moved_to_x_y({ x: Math.round(x), y: Math.round(y) }),
            }}
          >
            <Background gap={24} />
            <Controls showInteractive={false} />
          </ReactFlow>
        </div>
      </ToggleFoldContext>
    </div>
  )
}

/** The line of a link, with its cardinality at both ends. */
function LinkLine({ data }: EdgeProps<LinkEdge>) {
  const { getNode } = useReactFlow<TableNode, LinkEdge>()
  const line =
    data &&
    lineBetween(data.link, (id) => {
      const node = getNode(id)
      return node && { table: node.data.table, place: node.position }
    })
  if (!line) return null
  return (
    <g className={styles.line}>
      <path d={line.path} />
      {line.ends.map(({ x, y, text }) => (
        <text key={`${x} ${y}`} x={x} y={y} textAnchor="middle">
          {text}
        </text>
      ))}
    </g>
  )
}

/** Node data for the diagram library. */
type TableNode = Node<{ table: ShownTable; showTypes: boolean; isFound: boolean }, 'table'>

/** Opens a table from its box; a context, because the diagram library renders the boxes. */
const OpenTableContext = createContext<((tableId: string) => void) | undefined>(undefined)

/** Unfolds or folds a box. */
const ToggleFoldContext = createContext<(tableId: string) => void>(() => {})

/** A table's box: its name, and its fields with keys marked. */
function TableBox({ data: { table, showTypes, isFound } }: NodeProps<TableNode>) {
  const open = use(OpenTableContext)
  const fold = use(ToggleFoldContext)
  return (
    <div
      className={styles.box}
      data-found={isFound || undefined}
      data-junction={table.isJunction || undefined}
    >
      {/* The library requires handles to draw edges; `LinkLine` starts at the rows instead. */}
      <Handle type="source" position={Position.Right} className={styles.handle} isConnectable={false} />
      <Handle type="target" position={Position.Left} className={styles.handle} isConnectable={false} />
      <h2 className={styles.head} style={{ blockSize: HEAD_HEIGHT }}>
        <span className={styles.name} dir="auto" title={table.title}>
          {table.title}
        </span>
        {open && !table.isJunction && (
          <button type="button" className={styles.open} onClick={() => open(table.id)}>
            {m.common_open()}
          </button>
        )}
      </h2>
      {table.fields.map((field) => (
        <div
          key={field.id}
          className={styles.row}
          style={{ blockSize: ROW_HEIGHT }}
          data-key={field.isPrimaryKey || undefined}
        >
          {field.isPrimaryKey && <KeyRound size={12} aria-label={m.erd_primary_key()} />}
          {field.isForeignKey && <Link2 size={12} aria-label={m.erd_foreign_key()} />}
          <span
            className={styles.field}
            dir="auto"
            title={field.title}
            data-display={field.isDisplay || undefined}
          >
            {field.title}
          </span>
          {showTypes && <span className={styles.type}>{field.type}</span>}
        </div>
      ))}
      {table.isFoldable && (
        <button
          type="button"
          className={styles.fold}
          style={{ blockSize: ROW_HEIGHT }}
          aria-expanded={table.folded.length === 0}
          onClick={() => fold(table.id)}
        >
          {table.folded.length > 0 ? moreFields(table) : m.erd_show_fewer()}
        </button>
      )}
    </div>
  )
}

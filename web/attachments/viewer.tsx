import { Dialog } from '@ariakit/react'
import { ChevronLeft, ChevronRight, Download, ExternalLink, X, ZoomIn, ZoomOut } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { direction } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import { IconButton } from '../ui/button.tsx'
import { useLayer } from '../ui/layers.ts'
import { downloadFile } from './download.ts'
import { FileThumb } from './file-thumb.tsx'
import { formatBytes } from './format-bytes.ts'
import styles from './viewer.module.css'
import { isZoomable, ViewerBody } from './viewer-body.tsx'
import { withKeys } from './with-keys.ts'

interface ViewerProps {
  tableId: string
  items: readonly AttachmentItem[]
  start: number
  onClose: () => void
}

const STEP = 1.5
const MOST = 8
/** A finger that goes this far means the next file. */
const SWIPE_PX = 60

/** A cell's files over the whole page, one at a time. Arrows go on, + and − zoom, Escape closes. */
export function Viewer({ tableId, items, start, onClose }: ViewerProps) {
  const [at, setAt] = useState(Math.min(start, items.length - 1))
  const [zoom, setZoom] = useState(1)
  const box = useRef<HTMLDivElement>(null)
  const swipe = useRef<number | null>(null)
  useLayer(onClose, { element: box })
  const item = items[at]
  if (!item) return null
  const go = (to: number) => {
    setAt((to + items.length) % items.length)
    setZoom(1)
  }
  const scale = (by: number) => setZoom((now) => Math.min(MOST, Math.max(1, by === 0 ? 1 : now * by)))

  function onKeyDown(event: KeyboardEvent) {
    // A player's own keys are its own: arrows wind, space stops.
    if (event.target instanceof HTMLMediaElement || event.ctrlKey || event.metaKey || event.altKey) return
    const forward = direction() === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const backward = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft'
    const actions = new Map([
      [forward, () => go(at + 1)],
      [backward, () => go(at - 1)],
      ['Home', () => go(0)],
      ['End', () => go(items.length - 1)],
      ['+', () => scale(STEP)],
      ['=', () => scale(STEP)],
      ['-', () => scale(1 / STEP)],
      ['0', () => scale(0)],
    ])
    const action = actions.get(event.key)
    if (!action) return
    event.preventDefault()
    action()
  }

  const canZoom = isZoomable(item)
  return createPortal(
    <Dialog
      open
      ref={box}
      className={styles.viewer}
      aria-modal="true"
      aria-label={m.common_files()}
      portal={false}
      backdrop={false}
      preventBodyScroll={false}
      hideOnEscape={false}
      hideOnInteractOutside={false}
      autoFocusOnHide={false}
      data-testid="viewer"
      data-cell-popover
      onKeyDown={onKeyDown}
    >
      {/* Marked as a way to close, as Ariakit would otherwise add a hidden button of its own. */}
      <header className={styles.head} data-dialog-dismiss>
        <span className={styles.words}>
          <span className={styles.name} dir="auto" title={item.title}>
            {item.title}
          </span>
          <small>
            {item.url === undefined && formatBytes(item.size)}
            {item.width && item.height && <bdi dir="ltr">{` · ${item.width} × ${item.height}`}</bdi>}
          </small>
        </span>
        <span className={styles.count} role="status">
          {m.attachments_position_of_count({ n: at + 1, count: items.length })}
        </span>
        {canZoom && (
          <>
            <IconButton
              icon={ZoomOut}
              label={m.attachments_zoom_out()}
              shortcut="−"
              disabled={zoom <= 1}
              onClick={() => scale(1 / STEP)}
            />
            <IconButton
              icon={ZoomIn}
              label={m.attachments_zoom_in()}
              shortcut="+"
              disabled={zoom >= MOST}
              onClick={() => scale(STEP)}
            />
          </>
        )}
        {item.url === undefined ? (
          <IconButton
            icon={Download}
            label={m.common_download()}
            onClick={() => void downloadFile(tableId, item)}
          />
        ) : (
          <a
            className={styles.link}
            href={item.url}
            target="_blank"
            rel="noopener noreferrer"
            aria-label={m.attachments_open_link()}
          >
            <ExternalLink size={16} aria-hidden />
          </a>
        )}
        <IconButton
          icon={X}
          label={m.common_close()}
          shortcut={m.attachments_escape_key()}
          data-autofocus
          onClick={onClose}
        />
      </header>
      <div
        className={styles.stage}
        onPointerDown={({ pointerType, clientX }) => {
          swipe.current = pointerType === 'touch' && zoom === 1 ? clientX : null
        }}
        onPointerUp={({ clientX }) => {
          const way = swipe.current === null ? 0 : clientX - swipe.current
          swipe.current = null
          if (items.length > 1 && Math.abs(way) > SWIPE_PX)
            go(at + (way < 0 === (direction() === 'ltr') ? 1 : -1))
        }}
      >
        <ViewerBody
          key={`${at} ${item.path ?? item.url}`}
          tableId={tableId}
          item={item}
          zoom={zoom}
          onZoom={setZoom}
          onEmptyPress={onClose}
        />
        {items.length > 1 && (
          <>
            <button
              type="button"
              className={styles.previous}
              aria-label={m.attachments_previous_file()}
              onClick={() => go(at - 1)}
            >
              <ChevronLeft size={24} className="flip-in-rtl" aria-hidden />
            </button>
            <button
              type="button"
              className={styles.next}
              aria-label={m.attachments_next_file()}
              onClick={() => go(at + 1)}
            >
              <ChevronRight size={24} className="flip-in-rtl" aria-hidden />
            </button>
          </>
        )}
      </div>
      {items.length > 1 && (
        <nav className={styles.strip} aria-label={m.common_files()}>
          {withKeys(items).map(({ key, item: one, at: index }) => (
            <button
              key={key}
              type="button"
              className={styles.small}
              aria-label={one.title}
              aria-current={index === at || undefined}
              onClick={() => go(index)}
            >
              <FileThumb item={one} tableId={tableId} size={44} square />
            </button>
          ))}
        </nav>
      )}
    </Dialog>,
    document.body,
  )
}

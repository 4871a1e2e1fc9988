import { Dialog } from '@ariakit/react'
import { ChevronLeft, ChevronRight, Download, ExternalLink, X, ZoomIn, ZoomOut } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState, type WheelEvent } from 'react'
import { createPortal } from 'react-dom'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../src/core/fields/attachment-kinds.ts'
import { direction } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ControlGroup } from '../ui/composite.tsx'
import { useLayer } from '../ui/layers.ts'
import { downloadFile } from './download.ts'
import { FileIcon, FileThumb } from './file-thumb.tsx'
import { formatFileSize } from './format-bytes.ts'
import { useSignedFile } from './signed-files.ts'
import styles from './viewer.module.css'
import { withKeys } from './with-keys.ts'

interface ViewerProps {
  tableId: string
  items: readonly AttachmentItem[]
  start: number
  onClose: () => void
}

const STEP = 1.5
const MOST = 8
/** Swipe distance for the next file. */
const SWIPE_PX = 60

/** Full-page viewer for a cell's files, one at a time. Arrows change the file, + and − zoom, Escape closes. */
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
    // Media players handle their own keys: arrows seek, Space pauses.
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
            {item.url === undefined && formatFileSize(item.size)}
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

interface ViewerBodyProps {
  tableId: string
  item: AttachmentItem
  zoom: number
  onZoom: (zoom: number) => void
  /** Called on a click outside the image. */
  onEmptyPress: () => void
}

/** Maximum size of text files that are shown. */
const MAX_TEXT = 256 * 1024

const isPicture = ({ mimetype, url }: AttachmentItem): boolean =>
  url === undefined && (isSafeImage(mimetype) || mimetype === 'image/svg+xml')

/** True for files that are shown at any size. */
const isZoomable = isPicture

/** Shows a file at the largest possible size (image, player, PDF, text), or its type with a download button. */
function ViewerBody(props: ViewerBodyProps) {
  const { tableId, item } = props
  const signed = useSignedFile(tableId, item.path)
  const [isBroken, setBroken] = useState(false)
  const { mimetype } = item
  const onError = () => setBroken(true)
  if (isBroken || item.url !== undefined) return <NoPreview {...props} isBroken={isBroken} />
  if (!signed) return <div className={styles.waiting} aria-busy="true" />
  if (isPicture(item)) return <Picture {...props} src={signed.url} onError={onError} />
  if (mimetype.startsWith('audio/')) {
    // biome-ignore lint/a11y/useMediaCaption: uploaded files have no captions
    return <audio className={styles.audio} controls src={signed.url} onError={onError} />
  }
  if (mimetype.startsWith('video/')) {
    // biome-ignore lint/a11y/useMediaCaption: uploaded files have no captions
    return <video className={styles.video} controls src={signed.url} onError={onError} />
  }
  // No sandbox, in which browsers cannot show PDFs. The server has checked the type and sends a security policy.
  if (mimetype === 'application/pdf') {
    return (
      <iframe
        className={styles.pages}
        src={`${signed.url}?inline=1`}
        title={item.title}
        // Takes back the focus from the PDF viewer, which would receive Escape and the arrows.
        onLoad={({ currentTarget }) => currentTarget.closest<HTMLElement>('[role="dialog"]')?.focus()}
      />
    )
  }
  if (/^(text\/|application\/(json|xml)$)/.test(mimetype)) return <Text src={signed.url} onError={onError} />
  return <NoPreview {...props} isBroken={false} />
}

function Picture({
  item,
  zoom,
  onZoom,
  onEmptyPress,
  src,
  onError,
}: ViewerBodyProps & { src: string; onError: () => void }) {
  const stage = useRef<HTMLDivElement>(null)
  const drag = useRef<{ x: number; y: number } | null>(null)
  const onWheel = (event: WheelEvent) =>
    onZoom(Math.min(8, Math.max(1, zoom * (event.deltaY < 0 ? 1.15 : 1 / 1.15))))
  const onPointerMove = (event: PointerEvent) => {
    if (!drag.current || !stage.current) return
    stage.current.scrollBy(drag.current.x - event.clientX, drag.current.y - event.clientY)
    drag.current = { x: event.clientX, y: event.clientY }
  }
  return (
    <ControlGroup
      ref={stage}
      className={styles.picture}
      data-zoomed={zoom > 1 || undefined}
      onWheel={onWheel}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget && zoom === 1) return onEmptyPress()
        drag.current = { x: event.clientX, y: event.clientY }
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        drag.current = null
      }}
      onPointerLeave={() => {
        drag.current = null
      }}
      onDoubleClick={() => onZoom(zoom > 1 ? 1 : 2)}
    >
      <img
        src={src}
        alt={item.title}
        draggable={false}
        style={
          zoom > 1 ? { inlineSize: `${zoom * 100}%`, maxInlineSize: 'none', maxBlockSize: 'none' } : undefined
        }
        onError={onError}
      />
    </ControlGroup>
  )
}

function Text({ src, onError }: { src: string; onError: () => void }) {
  const [text, setText] = useState<string | null>(null)
  const failed = useRef(onError)
  failed.current = onError
  useEffect(() => {
    const controller = new AbortController()
    fetch(src, { headers: { range: `bytes=0-${MAX_TEXT - 1}` }, signal: controller.signal })
      .then(async (answer) => {
        // A range request for an empty file fails with 416.
        if (answer.status === 416) setText('')
        else if (!answer.ok) failed.current()
        else setText(await answer.text())
      })
      .catch(() => controller.signal.aborted || failed.current())
    return () => controller.abort()
  }, [src])
  if (text === null) return <div className={styles.waiting} aria-busy="true" />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <pre className={styles.text} dir="auto" tabIndex={0}>
      {text}
      {text.length >= MAX_TEXT && `\n\n${m.attachments_only_the_beginning_is_shown()}`}
    </pre>
  )
}

function NoPreview({ tableId, item, isBroken }: ViewerBodyProps & { isBroken: boolean }) {
  return (
    <div className={styles.none}>
      <FileIcon item={item} size={56} />
      <p dir="auto">{item.title}</p>
      {item.url !== undefined ? (
        <a className={styles.url} href={item.url} target="_blank" rel="noopener noreferrer" dir="ltr">
          {item.url}
        </a>
      ) : (
        <>
          <p>
            {isBroken
              ? m.attachments_this_file_cant_be_displayed()
              : m.attachments_no_preview_available_file_type()}
          </p>
          <Button onClick={() => void downloadFile(tableId, item)}>{m.common_download()}</Button>
        </>
      )}
    </div>
  )
}

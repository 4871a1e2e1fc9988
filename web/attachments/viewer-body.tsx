import { type PointerEvent, useEffect, useRef, useState, type WheelEvent } from 'react'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../src/core/fields/attachment-kinds.ts'
import { m } from '../messages.gen.ts'
import { Button } from '../ui/button.tsx'
import { ControlGroup } from '../ui/composite.tsx'
import { downloadFile } from './download.ts'
import { FileIcon } from './file-icon.tsx'
import { useSignedFile } from './signed-files.ts'
import styles from './viewer.module.css'

interface ViewerBodyProps {
  tableId: string
  item: AttachmentItem
  zoom: number
  onZoom: (zoom: number) => void
  /** Beside the picture was pressed. */
  onEmptyPress: () => void
}

/** Text beyond this is not shown: for that one downloads it. */
const MAX_TEXT = 256 * 1024

const isPicture = ({ mimetype, url }: AttachmentItem): boolean =>
  url === undefined && (isSafeImage(mimetype) || mimetype === 'image/svg+xml')

/** True for what is shown in any size. */
export const isZoomable = isPicture

/** One file as large as there is room: a picture, a player, pages, text; else what it is and a way to save it. */
export function ViewerBody(props: ViewerBodyProps) {
  const { tableId, item } = props
  const signed = useSignedFile(tableId, item.path)
  const [isBroken, setBroken] = useState(false)
  const { mimetype } = item
  const onError = () => setBroken(true)
  if (isBroken || item.url !== undefined) return <NoPreview {...props} isBroken={isBroken} />
  if (!signed) return <div className={styles.waiting} aria-busy="true" />
  if (isPicture(item)) return <Picture {...props} src={signed.url} onError={onError} />
  if (mimetype.startsWith('audio/')) {
    // biome-ignore lint/a11y/useMediaCaption: people's own files have none
    return <audio className={styles.audio} controls src={signed.url} onError={onError} />
  }
  if (mimetype.startsWith('video/')) {
    // biome-ignore lint/a11y/useMediaCaption: people's own files have none
    return <video className={styles.video} controls src={signed.url} onError={onError} />
  }
  // No sandbox: browsers show no PDF in one. What is served is known to be a PDF, and under a policy of its own.
  if (mimetype === 'application/pdf') {
    return (
      <iframe
        className={styles.pages}
        src={`${signed.url}?inline=1`}
        title={item.title}
        // The viewer of PDF takes the focus, and with it Escape and the arrows; one press gives it back to it.
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
        // Of an empty file there is no part.
        if (answer.status === 416) setText('')
        else if (!answer.ok) failed.current()
        else setText(await answer.text())
      })
      .catch(() => controller.signal.aborted || failed.current())
    return () => controller.abort()
  }, [src])
  if (text === null) return <div className={styles.waiting} aria-busy="true" />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
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

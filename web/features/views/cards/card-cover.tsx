import { ChevronLeft, ChevronRight } from 'lucide-react'
import { memo, useState } from 'react'
import { type AttachmentItem, readAttachments } from '../../../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import { FileIcon, sourceOf } from '../../../attachments/file-thumb.tsx'
import { distrust, useSignedFile } from '../../../attachments/signed-files.ts'
import { listIn } from '../../../cells/link-value.ts'
import { m } from '../../../messages.gen.ts'
import styles from './record-card.module.css'

/** Maximum pictures per card; the record shows all. */
const MOST_PICTURES = 10

/** Displayed size of the image in pixels, which determines the thumbnail. */
const DRAWN_PX = 320

/** The pictures of a cell that this server stores; the CSP blocks external ones. */
export function picturesOf(field: Field, value: CellValue): AttachmentItem[] {
  // A lookup contains the cells of several records.
  const cells = field.result?.isList ? listIn(value) : [value]
  const items = cells.flatMap((cell) => readAttachments(cell))
  return items.filter((item) => item.path !== undefined && item.mimetype.startsWith('image/'))
}

interface CardCoverProps {
  pictures: readonly AttachmentItem[]
  tableId: string
  fit: 'fit' | 'crop'
}

/** The cover of a card. Several pictures are shown one at a time. */
export const CardCover = memo(function CardCover({ pictures, tableId, fit }: CardCoverProps) {
  const shown = pictures.slice(0, MOST_PICTURES)
  const [at, setAt] = useState(0)
  const current = Math.min(at, shown.length - 1)
  const item = shown[current]
  if (!item) return null
  const step = (by: 1 | -1) => setAt((current + by + shown.length) % shown.length)
  return (
    <div className={styles.cover} data-fit={fit} data-testid="card-cover">
      <Picture key={item.path} item={item} tableId={tableId} />
      {shown.length > 1 && (
        <>
          <Arrow icon="previous" onPress={() => step(-1)} />
          <Arrow icon="next" onPress={() => step(1)} />
          <span
            className={styles.dots}
            role="img"
            aria-label={m.views_image_of_count({ n: current + 1, count: shown.length })}
          >
            {shown.map((one, index) => (
              <span key={one.path} data-on={index === current || undefined} />
            ))}
          </span>
        </>
      )}
    </div>
  )
})

function Picture({ item, tableId }: { item: AttachmentItem; tableId: string }) {
  const signed = useSignedFile(tableId, item.path)
  const [broken, setBroken] = useState<string | null>(null)
  const src = signed ? sourceOf(item, signed, DRAWN_PX) : null
  if (signed === null) return null
  if (src === null || src === broken) return <FileIcon item={item} size={36} />
  return (
    <img
      src={src}
      alt={item.title}
      loading="lazy"
      decoding="async"
      draggable={false}
      onError={() => {
        setBroken(src)
        if (item.path !== undefined) distrust(item.path)
      }}
    />
  )
}

/** Pointer only; the keyboard opens the record, which shows all images. */
function Arrow({ icon, onPress }: { icon: 'previous' | 'next'; onPress: () => void }) {
  const Icon = icon === 'previous' ? ChevronLeft : ChevronRight
  const label = icon === 'previous' ? m.views_previous_image() : m.views_next_image()
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.arrow}
      data-side={icon}
      data-interactive
      aria-label={label}
      title={label}
      // Keeps the press from opening or dragging the card.
      onPointerDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        event.stopPropagation()
        onPress()
      }}
    >
      <Icon size={16} className="flip-in-rtl" aria-hidden />
    </button>
  )
}

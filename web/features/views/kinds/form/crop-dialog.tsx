import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { Dialog } from '../../../../ui/overlays.ts'
import styles from './builder.module.css'

/** Size in pixels of the cropped picture. */
export interface CropShape {
  width: number
  height: number
}

const MOST_ZOOM = 4
/** Step of an arrow key as a fraction of the frame. */
const STEP = 0.02

interface Cut {
  zoom: number
  /** Centre of the frame in the image, from 0 to 1. */
  x: number
  y: number
}

/** Crops an image to an aspect ratio; moved by drag or arrow keys, zoomed by a slider. */
export function CropDialog(props: {
  file: File
  shape: CropShape
  title: string
  onClose: () => void
  onDone: (picture: Blob) => void
}) {
  const { file, shape, title, onClose, onDone } = props
  const picture = usePicture(file)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [cut, setCut] = useState<Cut>({ zoom: 1, x: 0.5, y: 0.5 })
  const [isBusy, setBusy] = useState(false)
  const from = useRef<{ x: number; y: number; cut: Cut } | null>(null)
  const image = picture === 'failed' ? null : picture

  useEffect(() => {
    if (canvas.current && image) draw(canvas.current, image, cut)
  }, [image, cut])

  const move = (start: Cut, dx: number, dy: number) => {
    if (image) setCut(within(image, shape, { ...start, x: start.x - dx, y: start.y - dy }))
  }
  const drag = (event: PointerEvent<HTMLCanvasElement>) => {
    const start = from.current
    if (!start || !image) return
    const { width } = event.currentTarget.getBoundingClientRect()
    const part = sizeOf(image, shape, start.cut.zoom)
    const scale = part.width / width
    move(
      start.cut,
      ((event.clientX - start.x) * scale) / image.naturalWidth,
      ((event.clientY - start.y) * scale) / image.naturalHeight,
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = {
      ArrowLeft: [STEP, 0],
      ArrowRight: [-STEP, 0],
      ArrowUp: [0, STEP],
      ArrowDown: [0, -STEP],
    }[event.key]
    if (!step) return
    event.preventDefault()
    move(cut, step[0] ?? 0, step[1] ?? 0)
  }
  const done = () => {
    setBusy(true)
    const isPhoto = file.type === 'image/jpeg'
    canvas.current?.toBlob((blob) => blob && onDone(blob), isPhoto ? 'image/jpeg' : 'image/png', 0.9)
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button variant="primary" disabled={!image} busy={isBusy} onClick={done}>
            {m.form_crop()}
          </Button>
        </>
      }
    >
      {picture === 'failed' ? (
        <p role="alert">{m.form_image_format_not_supported()}</p>
      ) : (
        <>
          <canvas
            ref={canvas}
            width={shape.width}
            height={shape.height}
            className={styles.crop}
            tabIndex={0}
            role="img"
            aria-label={m.form_crop_area_drag_move_arrow()}
            onKeyDown={onKeyDown}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId)
              from.current = { x: event.clientX, y: event.clientY, cut }
            }}
            onPointerMove={drag}
            onPointerUp={() => {
              from.current = null
            }}
          />
          <label className={styles.zoom}>
            {m.common_size()}
            <input
              type="range"
              min={1}
              max={MOST_ZOOM}
              step={0.01}
              value={cut.zoom}
              onChange={(event) => {
                if (image) setCut(within(image, shape, { ...cut, zoom: event.target.valueAsNumber }))
              }}
            />
          </label>
        </>
      )}
    </Dialog>
  )
}

/** The decoded picture of a file; null while loading. */
function usePicture(file: File): HTMLImageElement | 'failed' | null {
  const [picture, setPicture] = useState<HTMLImageElement | 'failed' | null>(null)
  useEffect(() => {
    const url = URL.createObjectURL(file)
    const image = new Image()
    image.src = url
    image.decode().then(
      () => setPicture(image),
      () => setPicture('failed'),
    )
    return () => URL.revokeObjectURL(url)
  }, [file])
  return picture
}

/** The part of the picture inside the frame, in its pixels. */
function sizeOf(image: HTMLImageElement, shape: CropShape, zoom: number): CropShape {
  const scale = Math.min(image.naturalWidth / shape.width, image.naturalHeight / shape.height) / zoom
  return { width: shape.width * scale, height: shape.height * scale }
}

/** Keeps the frame within the picture. */
function within(image: HTMLImageElement, shape: CropShape, cut: Cut): Cut {
  const { width, height } = sizeOf(image, shape, cut.zoom)
  const [halfX, halfY] = [width / image.naturalWidth / 2, height / image.naturalHeight / 2]
  const held = (value: number, half: number) => Math.max(half, Math.min(1 - half, value))
  return { ...cut, x: held(cut.x, halfX), y: held(cut.y, halfY) }
}

function draw(canvas: HTMLCanvasElement, image: HTMLImageElement, cut: Cut): void {
  const { width, height } = sizeOf(image, canvas, cut.zoom)
  const context = canvas.getContext('2d')
  context?.clearRect(0, 0, canvas.width, canvas.height)
  context?.drawImage(
    image,
    cut.x * image.naturalWidth - width / 2,
    cut.y * image.naturalHeight - height / 2,
    ...([width, height, 0, 0, canvas.width, canvas.height] as const),
  )
}

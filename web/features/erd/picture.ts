import { m } from '../../messages.gen.ts'
import { BOX_WIDTH, boxHeight, HEAD_HEIGHT, lineBetween, type Point, ROW_HEIGHT } from './layout.ts'
import type { ShownDiagram, ShownTable } from './shown-diagram.ts'

const MARGIN = 32
/** Approximate characters per row: SVG text has no ellipsis. */
const TITLE_LENGTH = 28
const TYPE_LENGTH = 12

/** Current value of a CSS variable of the page. */
const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** The diagram as a self-contained SVG: no external fonts, styles or scripts. */
export function svgOf(
  { tables, links }: ShownDiagram,
  places: ReadonlyMap<string, Point>,
  { showTypes }: { showTypes: boolean },
): { svg: string; width: number; height: number } {
  const boxes = tables.flatMap((table) => {
    const place = places.get(table.id)
    return place ? [{ table, place }] : []
  })
  const left = Math.min(...boxes.map(({ place }) => place.x)) - MARGIN
  const top = Math.min(...boxes.map(({ place }) => place.y)) - MARGIN
  const width = Math.max(...boxes.map(({ place }) => place.x + BOX_WIDTH)) + MARGIN - left
  const height = Math.max(...boxes.map(({ place, table }) => place.y + boxHeight(table))) + MARGIN - top
  const byId = new Map(boxes.map((box) => [box.table.id, box]))
  const lines = links.flatMap((link) => {
    const line = lineBetween(link, (id) => byId.get(id))
    if (!line) return []
    const labels = line.ends.map(
      ({ x, y, text }) =>
        `<text x="${x}" y="${y}" text-anchor="middle" font-size="11" fill="${token('--color-text-muted')}">${text}</text>`,
    )
    return [
      `<path d="${line.path}" fill="none" stroke="${token('--color-border-strong')}" stroke-width="1.5"/>`,
      ...labels,
    ]
  })
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif">`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${token('--color-bg')}"/>`,
    ...lines,
    ...boxes.map(({ table, place }) => boxOf(table, place, showTypes)),
    '</svg>',
  ].join('\n')
  return { svg, width, height }
}

function boxOf(table: ShownTable, { x, y }: Point, showTypes: boolean): string {
  const baseOf = (at: number): number => y + HEAD_HEIGHT + at * ROW_HEIGHT + ROW_HEIGHT / 2 + 4
  const rows = table.fields.map((field, at) => {
    const base = baseOf(at)
    const weight = field.isPrimaryKey || field.isDisplay ? ' font-weight="600"' : ''
    const type = showTypes
      ? `<text x="${x + BOX_WIDTH - 12}" y="${base}" text-anchor="end" font-size="11" fill="${token('--color-text-muted')}">${xmlText(field.type, TYPE_LENGTH)}</text>`
      : ''
    return `<text x="${x + 12}" y="${base}" font-size="12" fill="${token('--color-text')}"${weight}>${xmlText(field.title, showTypes ? TITLE_LENGTH - 8 : TITLE_LENGTH)}</text>${type}`
  })
  return [
    `<rect x="${x}" y="${y}" width="${BOX_WIDTH}" height="${boxHeight(table)}" rx="8" fill="${token('--color-bg')}" stroke="${token('--color-border-strong')}"/>`,
    `<text x="${x + 12}" y="${y + HEAD_HEIGHT / 2 + 4}" font-size="13" font-weight="700" fill="${token('--color-text')}">${xmlText(table.title, TITLE_LENGTH)}</text>`,
    ...rows,
    ...(table.folded.length > 0
      ? [
          `<text x="${x + 12}" y="${baseOf(rows.length)}" font-size="12" fill="${token('--color-text-muted')}">${xmlText(moreFields(table), TITLE_LENGTH)}</text>`,
        ]
      : []),
  ].join('')
}

/** Count of fields that a folded box leaves out. */
export const moreFields = ({ folded }: ShownTable): string => m.erd_more_fields({ count: folded.length })

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function xmlText(text: string, length: number): string {
  const characters = [...text]
  const cut = characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text
  return (
    cut
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML holds none of these
      .replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
      .replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)
  )
}

/** Longest side of a canvas in pixels: browsers draw nothing on larger ones. */
const MAX_SIDE = 12_000

/** Renders the SVG as a PNG, at double resolution if that fits. */
export async function pngOf({
  svg,
  width,
  height,
}: {
  svg: string
  width: number
  height: number
}): Promise<Blob> {
  const scale = Math.min(2, MAX_SIDE / Math.max(width, height))
  const image = new Image()
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  try {
    image.src = url
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    if (!blob) throw new Error('The browser could not draw the picture')
    return blob
  } finally {
    URL.revokeObjectURL(url)
  }
}

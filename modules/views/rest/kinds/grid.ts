import { z } from 'zod'
import { readBody } from '../../../../src/wire/rest-base.ts'
import { AGGREGATIONS, ROW_HEIGHTS, rowHeightOf } from '../view-bodies.ts'
import { type WireKind, wireMeta } from './wire-kind.ts'

const GridBody = z.object({ row_height: z.number().nullish(), meta: wireMeta.nullish() })

export const grid: WireKind = {
  kind: 'grid',
  hasNoOptions: true,
  path: 'grids',
  present: ({ row }) => ({ row_height: ROW_HEIGHTS.indexOf(row.rowHeight) }),
  read(body) {
    const { row_height: height, meta } = readBody(GridBody, body)
    return {
      ...(height != null && { rowHeight: rowHeightOf(height) }),
      ...(meta != null && { meta }),
    }
  },
  presentColumn({ groups }, field) {
    const level = groups.findIndex(({ fieldId }) => fieldId === field.fieldId)
    const group = groups[level]
    return {
      width: `${field.width}px`,
      group_by: group ? true : null,
      group_by_order: group ? level + 1 : null,
      group_by_sort: group?.direction ?? null,
      aggregation: Object.keys(AGGREGATIONS).find((name) => AGGREGATIONS[name] === field.summary) ?? 'none',
    }
  },
}

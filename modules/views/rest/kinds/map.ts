import { z } from 'zod'
import type { MapOptions } from '../../../../src/core/views/index.ts'
import { readBody } from '../../../../src/wire/rest-base.ts'
import { kindChange, present, type WireKind, wireFieldId, wireMeta } from './wire-kind.ts'

const MapBody = z.object({ fk_geo_data_col_id: wireFieldId.optional(), meta: wireMeta.nullish() })

export const map: WireKind = {
  kind: 'map',
  path: 'maps',
  present: ({ options, row }) => ({
    title: row.title,
    fk_geo_data_col_id: (options as MapOptions).geoFieldId,
  }),
  read(body) {
    const { fk_geo_data_col_id: geoFieldId, meta } = readBody(MapBody, body)
    return kindChange(present({ geoFieldId }), meta ?? undefined)
  },
}

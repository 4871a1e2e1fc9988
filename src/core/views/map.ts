import { z } from 'zod'
import type { Field } from '../model.ts'
import { fitOrNull, isShownAs, type ViewKindDefinition, wrongType } from './view-kind.ts'

export const mapOptions = z.strictObject({
  /** The field of places; null: to be chosen. */
  geoFieldId: z.string().max(64).nullable().default(null),
})
export type MapOptions = z.output<typeof mapOptions>

/** True for a field whose values are places. */
export const isPlace = (field: Field): boolean => isShownAs(field, 'GeoData') && field.result?.isList !== true

/** Records as pins on a map. */
export const map: ViewKindDefinition<MapOptions> = {
  kind: 'map',
  wireNumber: 5,
  label: 'Map',
  options: mapOptions,
  defaults: (fields) => ({ geoFieldId: fields.find(isPlace)?.id ?? null }),
  fieldIds: ({ geoFieldId }) => (geoFieldId === null ? [] : [geoFieldId]),
  prune: (options, field) => ({ ...options, geoFieldId: fitOrNull(options.geoFieldId, field, isPlace) }),
  problem: ({ geoFieldId }, field) => wrongType([geoFieldId], field, isPlace, 'GeoData field'),
  hasManualOrder: false,
  shownAtFirst: 5,
}

import { MapPin } from 'lucide-react'
import { geoData } from '../../src/core/fields/geo-data.ts'
import { defineCell, lazyEditor } from './cell.ts'
import view from './view.module.css'

/** A location: latitude and longitude. */
export const geoDataCell = defineCell(geoData, {
  Icon: MapPin,
  align: 'start',
  minWidth: 90,
  View: ({ value }) =>
    value === null || value === '' ? null : (
      <span className={view.date} dir="ltr">
        {String(value).replace(';', '; ')}
      </span>
    ),
  Editor: lazyEditor(() => import('./geo-data-editor.tsx'), 'GeoEditor'),
})

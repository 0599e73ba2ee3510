import type { Command } from 'commander';
import type { App } from '../app.ts';
import { addCatalogList, addCatalogReview } from './catalog-list.ts';
import { addCatalogPut } from './catalog-put.ts';

export const addCatalog = (program: Command, app: App): void => {
  const catalog = program.command('catalog').description('tools and templates of sagas');
  addCatalogPut(catalog, app);
  addCatalogList(catalog, app);
  addCatalogReview(catalog, app);
};

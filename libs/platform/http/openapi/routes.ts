import { RequestMethod } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { HTTP_CODE_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ACCESS, type Access } from '../access.js';
import { BODY, type DeclaredBody } from '../json-body.js';
import { OPERATION, SECTION, type OperationSpec, type SectionSpec } from './operation.js';

/** A route as its decorators tell of it. */
export interface Route {
  /** With parameters as OpenAPI writes them: `/messages/{id}`. */
  readonly path: string;
  /** In lower case. */
  readonly method: string;
  /** Of the answer to a request that succeeds. */
  readonly status: number;
  readonly section: SectionSpec;
  readonly access: Access;
  readonly body: DeclaredBody | undefined;
  readonly spec: OperationSpec;
}

/** @returns whether a target is, for certain, one that has this method for callers with an API key */
export function keyedRoutes(routes: readonly Route[]): (target: string, method: string) => boolean {
  const keyed = routes.filter(({ access }) => access !== 'public' && access !== 'operator');
  const names = new Set(keyed.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  return (target, method) => names.has(`${method} ${target}`);
}

export type Controller = new (...args: never[]) => object;

/** The routes of all controllers. */
export function allRoutes(discovery: DiscoveryService): Route[] {
  return discovery
    .getControllers()
    .flatMap(({ metatype }) => (typeof metatype === 'function' ? routesOf(metatype as Controller) : []));
}

/** @throws Error when a route does not describe itself */
export function routesOf(controller: Controller): Route[] {
  const prototype = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    const verb = handler && (Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined);
    if (handler === undefined || verb === undefined) return [];
    const path = [controller, handler].map((part) => Reflect.getMetadata(PATH_METADATA, part) as string).join('/');
    // What takes everything that no route took is no route.
    if (path.includes('*')) return [];
    const spec = Reflect.getMetadata(OPERATION, handler) as OperationSpec | undefined;
    const section = Reflect.getMetadata(SECTION, controller) as SectionSpec | undefined;
    if (spec === undefined || section === undefined) {
      throw new Error(`${controller.name}.${name} needs @Operation, and its class @Section.`);
    }
    const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
    const access = [handler, controller].map((part) => Reflect.getMetadata(ACCESS, part) as Access | undefined);
    return [
      {
        path: `/${path.split('/').filter(Boolean).join('/')}`.replace(/:(\w+)/g, '{$1}'),
        method: RequestMethod[verb].toLowerCase(),
        status: status ?? (verb === RequestMethod.POST ? 201 : 200),
        access: access[0] ?? access[1] ?? 'caller',
        body: Reflect.getMetadata(BODY, prototype, name) as DeclaredBody | undefined,
        section,
        spec,
      },
    ];
  });
}
